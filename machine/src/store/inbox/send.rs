use tracing::{Instrument, field::display};

use crate::{
    id::Id,
    store::{
        backend::{Child, Messages, Rejected, WriteBatch},
        error::{LoadError, Unavailable},
        handle::Store,
        inbox::{
            message::{Message, Received},
            protocol::{Event, EventOutcome, EventRefusal},
            sent,
        },
        operation::Act,
    },
    telemetry,
};

/// The outcome of sending a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sent {
    /// The message is in the inbox of the machine.
    Queued,
    /// The machine already has the same message: same sender, correlation id and event. Nothing was
    /// written.
    Duplicate,
}

/// Why a message was not sent.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum SendError {
    /// No machine has this id.
    #[error("no machine {id} in this store; the message was not stored; check the id")]
    NotFound { id: Id },
    /// The machine is in a terminal state. The message is stored, set aside.
    #[error("{id} has ended, so the message will never be handled; it was stored as set aside")]
    Ended { id: Id },
    /// Another message has the same correlation id, but another sender or another event. Nothing
    /// was written.
    #[error(
        "{id} has another message with the correlation id `{correlation}`; this one was not stored; \
         send it with another id"
    )]
    OtherMessage { id: Id, correlation: String },
    /// The inbox of the machine is full: 10,000 queued messages. Nothing was written. Messages of
    /// the library itself, such as the outcomes of calls, are always accepted.
    #[error(
        "the inbox of {id} is full: {queued} messages are queued; this one was not stored; find out why \
         the machine does not take them, for example with `show`, and send it again when it has"
    )]
    InboxFull { id: Id, queued: u32 },
    /// The message to requeue is unknown.
    #[error("{id} has no message `{correlation}`; `inbox` lists its messages")]
    NoMessage { id: Id, correlation: String },
    /// The storage is unavailable. Send the message again: it keeps its correlation id, so it is
    /// not taken twice.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Machines and messages that were set aside, and wait for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Machines whose handler failed too often, with the last error.
    pub machines: Vec<(Id, Option<String>)>,
    /// Messages that cannot be handled, with the error.
    pub messages: Vec<Received>,
    /// The problems of messages that were edited by hand, and the machine that each is for.
    pub unreadable: Vec<(Option<Id>, String)>,
}

impl Store {
    /// Sends a machine one of its events as a message. A worker applies the message when the
    /// machine is in a state that takes it. The message is durable when this returns, waits as long
    /// as necessary, and causes at most one transition. To send it in one batch with other writes,
    /// see [`Batch::send`](crate::effects::Batch::send).
    ///
    /// The machine takes one message per correlation id. After a message was set aside, a corrected
    /// message with the same correlation id replaces it: the first one is kept, and never tried
    /// again.
    ///
    /// # Errors
    ///
    /// [`SendError::OtherMessage`], [`SendError::InboxFull`], [`SendError::NotFound`],
    /// [`SendError::Ended`], and [`SendError::Unavailable`] if the storage cannot do it now.
    ///
    /// ```
    /// use machine::actor::Human;
    /// use machine::store::{Message, Sent, Store};
    /// # use machine::actor::Actors;
    /// # use machine::contract::{Contract, Execution};
    ///
    /// # pollster::block_on(async {
    /// # let store = Store::memory();
    /// # let actors = Actors::issue("assistant")?;
    /// # let question = Contract::ecs_request("Which port?", &actors.reasoning_node)?;
    /// # let mut waiting = Execution::new(question)
    /// #     .start(&actors.ecs_node)
    /// #     .suspend("Which port?".to_owned(), &actors.ecs_node);
    /// # store.create(&mut waiting).await?;
    /// # let id = waiting.id();
    /// let answer = r#"{"trigger": "cancel", "reason": "no longer needed"}"#;
    /// let message = Message::from_json(answer, &actors.graph_runner)?.with_correlation("form-17")?;
    /// assert_eq!(store.send(id, &message).await?, Sent::Queued);
    /// assert_eq!(store.send(id, &message).await?, Sent::Duplicate);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn send(&self, to: Id, message: &Message) -> Result<Sent, SendError> {
        let Some(by) = message.person().filter(|_| self.act.is_none()) else {
            return self.send_once(to, message).await;
        };
        let detail = message.0.trigger().unwrap_or_default();
        let act = Act { by: by.to_owned(), operation: "send", machines: vec![to], detail };
        let person = self.acting(act);
        let sent = match person.send_once(to, message).await {
            // With a line, nothing is written of it.
            Err(SendError::Ended { .. }) => self.send_once(to, message).await,
            sent => sent,
        };
        if let Err(
            error @ (SendError::Ended { .. }
            | SendError::OtherMessage { .. }
            | SendError::InboxFull { .. }),
        ) = &sent
        {
            // The caller learns of the refusal in any case.
            let _ = person.log(&format!("refused: {error}")).await;
        }
        sent
    }

    /// The messages to a machine, oldest first, including handled ones. An altered message is an
    /// error at its position.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn inbox(&self, id: Id) -> Result<Vec<Result<Received, LoadError>>, LoadError> {
        let found = self.inner.backend.messages(Messages::To(id)).await?;
        Ok(found.into_iter().map(|found| found.map_err(LoadError::from)).collect())
    }

    /// Machines and messages that workers have set aside. [`requeue`](Self::requeue) tries them
    /// again.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn set_aside(&self) -> Result<SetAside, LoadError> {
        let failing = self.failing().await?.into_iter();
        let machines =
            failing.filter(|it| it.set_aside).map(|it| (it.id, Some(it.error))).collect();
        let mut set_aside = SetAside { machines, ..SetAside::default() };
        for message in self.inner.backend.messages(Messages::SetAside).await? {
            match message {
                Ok(message) => set_aside.messages.push(message),
                Err(broken) => set_aside.unreadable.push((broken.id, broken.reason)),
            }
        }
        Ok(set_aside)
    }

    /// Lets workers retry work that was set aside: the handler of the machine, and these of its
    /// messages. Also makes workers call the handler of a machine that nothing can move.
    ///
    /// # Errors
    ///
    /// [`SendError::NotFound`], [`SendError::Ended`], and [`SendError::NoMessage`] if one of the
    /// messages is unknown; then nothing is requeued.
    pub async fn requeue(&self, id: Id, messages: &[&str]) -> Result<(), SendError> {
        let messages: Vec<String> = messages.iter().map(|&it| it.to_owned()).collect();
        let event = Event::Requeue { now: self.now(), messages: messages.clone() };
        match self.apply_event(id, event).await? {
            Ok(_) => {
                let count = messages.len() as u64;
                telemetry::Requeued { id: display(id), messages: count }.emit();
                Ok(())
            }
            Err(Rejected::Refused { refusal: EventRefusal::NotQueued, .. }) => {
                let known = self.inner.backend.messages(Messages::To(id)).await?;
                let known: Vec<_> = known.into_iter().flatten().map(|it| it.correlation).collect();
                let missing = messages.into_iter().find(|it| !known.contains(it));
                Err(SendError::NoMessage { id, correlation: missing.unwrap_or_default() })
            }
            Err(Rejected::Refused { .. }) => Err(SendError::Ended { id }),
            Err(_) => Err(SendError::NotFound { id }),
        }
    }

    /// The children of a machine, in the order in which they were created. See
    /// [`Batch::create_child`](crate::effects::Batch::create_child).
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now, and [`LoadError::Unreadable`]
    /// if the file was edited by hand.
    pub async fn children(&self, parent: Id) -> Result<Vec<Child>, LoadError> {
        let found = self.inner.backend.children(parent).await?;
        found.into_iter().map(|found| found.map_err(LoadError::from)).collect()
    }

    /// The parent of this machine; `None` if it has none, or the parent was pruned.
    ///
    /// # Errors
    ///
    /// The errors of [`children`](Self::children).
    pub async fn parent(&self, child: Id) -> Result<Option<Id>, LoadError> {
        Ok(self.inner.backend.parent(child).await??)
    }

    /// See [`send`](Self::send). If the machine of a person's message has it, or has ended, nothing
    /// is written.
    async fn send_once(&self, to: Id, message: &Message) -> Result<Sent, SendError> {
        let now = self.now();
        let event = Event::Send { message: message.0.clone(), now };
        let span = telemetry::Send { id: display(to) }.span();
        let happened = self.apply_event(to, event).instrument(span.clone()).await;
        let sent = match happened {
            Ok(
                Ok(EventOutcome::Duplicate)
                | Err(Rejected::Refused { refusal: EventRefusal::Duplicate, .. }),
            ) => Ok(Sent::Duplicate),
            Ok(Ok(EventOutcome::Ended) | Err(Rejected::Refused { .. })) => {
                Err(SendError::Ended { id: to })
            }
            Ok(Ok(_)) => Ok(Sent::Queued),
            Ok(Err(Rejected::OtherMessage { id, correlation })) => {
                Err(SendError::OtherMessage { id, correlation })
            }
            Ok(Err(Rejected::InboxFull { id, queued })) => Err(SendError::InboxFull { id, queued }),
            Ok(Err(_)) => Err(SendError::NotFound { id: to }),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &sent {
            telemetry::failed(&span, error.class());
        }
        sent
    }

    /// Applies one event in a separate batch.
    pub(in crate::store) async fn apply_event(
        &self,
        id: Id,
        event: Event,
    ) -> Result<Result<EventOutcome, Rejected>, Unavailable> {
        let log = self.act.iter().cloned().map(|act| act.line(self, "done")).collect();
        let batch = WriteBatch { events: vec![(id, event)], log, ..self.new_batch() };
        let sent = sent::sent(&batch.events);
        let applied = self.inner.backend.apply(batch).await?;
        if let Ok(applied) = &applied {
            sent::sent_with(&sent, &applied.outcomes);
        }
        Ok(applied.map(|applied| applied.outcomes.first().copied().unwrap_or_default()))
    }
}
