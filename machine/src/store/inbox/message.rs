use std::{fmt, sync::Arc};

use serde::Serialize;

use crate::{
    actor::{Actor, Human, is_genuine, is_invisible},
    clock::Millis,
    id::{Id, shortened},
    journal::{Digest, DigestKey, canonical},
    store::{
        backend::Kinship,
        inbox::protocol::{Cause, Fault, MessageState},
    },
};

/// A message to a machine: one of its events, and the actor who sends it. [`Store::send`] keeps it
/// until the machine is in a state that takes it.
///
/// ```
/// use machine::actor::Human;
/// use machine::store::Message;
///
/// let ann = Human::new("ann@example.com")?;
/// let message = Message::new(&serde_json::json!({"trigger": "confirm", "amount": 3}), &ann)?
///     .with_correlation("form-17")?;
/// assert_eq!(message.correlation(), "form-17");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Store::send`]: crate::store::Store::send
#[derive(Debug, Clone)]
pub struct Message(pub(crate) Arc<Outgoing>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Outgoing {
    pub(crate) correlation: String,
    /// The kind and the name of the actor.
    pub(crate) actor: String,
    pub(crate) name: Option<String>,
    pub(crate) body: String,
    /// The number of transitions of the machine that the sender has seen, if it is for that state
    /// only.
    pub(crate) seen: Option<u64>,
}

/// Why a message cannot be sent.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum InvalidMessage {
    /// The event cannot be written as JSON.
    #[error("the event cannot be written as JSON: {0}")]
    Event(serde_json::Error),
    /// The event is too long.
    #[error(
        "the message has {bytes} bytes, the limit is {}; store large data elsewhere and send a \
         reference",
        Message::MAX_BYTES
    )]
    TooLarge { bytes: usize },
    /// The correlation id is unusable.
    #[error(
        "`{text}` is not a correlation id; use 1 to {} bytes without invisible characters; `machine:` at \
         the start is reserved",
        Message::MAX_CORRELATION_BYTES
    )]
    Correlation { text: String },
    /// A type of another crate has a kind of this library.
    #[error("the kind `{0}` is reserved for an actor of the library; choose another kind")]
    Actor(&'static str),
}

impl Message {
    const MAX_BYTES: usize = 1024 * 1024;

    const MAX_CORRELATION_BYTES: usize = 256;

    /// A message with this event, such as `order::Event::Confirm { .. }`. It has a new correlation
    /// id; see [`with_correlation`](Self::with_correlation).
    ///
    /// # Errors
    ///
    /// [`InvalidMessage`] if the event cannot be written as JSON or has more than 1 MiB.
    pub fn new<A: Actor>(event: &impl Serialize, by: &A) -> Result<Self, InvalidMessage> {
        let body = serde_json::to_string(event).map_err(InvalidMessage::Event)?;
        Self::from_json(body, by)
    }

    /// Like [`new`](Self::new), with the event as JSON text, such as
    /// `{"trigger": "confirm", "amount": 3}`, for code that does not know the type of the machine.
    /// If the text is not an event of the machine, the message is set aside when a worker reads it.
    ///
    /// # Errors
    ///
    /// [`InvalidMessage`] if it has more than 1 MiB.
    pub fn from_json<A: Actor>(body: impl Into<String>, by: &A) -> Result<Self, InvalidMessage> {
        let body = body.into();
        if body.len() > Self::MAX_BYTES {
            return Err(InvalidMessage::TooLarge { bytes: body.len() });
        }
        if !is_genuine::<A>() {
            return Err(InvalidMessage::Actor(A::KIND));
        }
        Ok(Self(Arc::new(Outgoing {
            correlation: Id::fresh().to_string(),
            actor: A::KIND.to_owned(),
            name: by.name().map(str::to_owned),
            body,
            seen: None,
        })))
    }

    /// Sets the correlation id, such as the id of the request that the message answers. A machine
    /// takes one message per correlation id. If the same sender sends the same message again, it is
    /// a [duplicate](crate::store::Sent::Duplicate); a different message is refused, unless the
    /// first one was set aside: then it replaces the first one.
    ///
    /// # Errors
    ///
    /// [`InvalidMessage::Correlation`] if it is empty, too long, has invisible characters, or
    /// starts with `machine:`, which is for messages of the library itself.
    pub fn with_correlation(mut self, id: impl Into<String>) -> Result<Self, InvalidMessage> {
        let id = id.into();
        let is_valid = !id.is_empty()
            && id.len() <= Self::MAX_CORRELATION_BYTES
            && !id.starts_with(RESERVED)
            && !id.chars().any(is_invisible);
        if !is_valid {
            return Err(InvalidMessage::Correlation { text: shortened(&id) });
        }
        Arc::make_mut(&mut self.0).correlation = id;
        Ok(self)
    }

    /// Binds the message to the state that the sender has seen, by the machine's number of
    /// transitions at that time, such as
    /// [`Snapshot::transition_count`](crate::view::Snapshot::transition_count). Once the machine
    /// has moved on, the message is set aside and never applied, so that a late answer, or a second
    /// one, does not answer the next question.
    ///
    /// ```
    /// use machine::actor::Human;
    /// use machine::store::Message;
    ///
    /// let ann = Human::new("ann")?;
    /// let answer = Message::from_json(r#"{"trigger": "resume"}"#, &ann)?.unless_moved(7);
    /// # drop(answer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unless_moved(mut self, seen: u64) -> Self {
        // No machine has made more.
        Arc::make_mut(&mut self.0).seen = Some(seen.min(i64::MAX.unsigned_abs()));
        self
    }

    /// The correlation id.
    #[must_use]
    pub fn correlation(&self) -> &str {
        &self.0.correlation
    }

    /// The name of the person who sends it, if it is one.
    pub(crate) fn person(&self) -> Option<&str> {
        self.0.name.as_deref().filter(|_| self.0.actor == Human::KIND)
    }

    /// The message that a machine that leaves a visit sends to the children of the visit. A child
    /// is of one visit, so it gets one.
    pub(crate) fn cancel(parent: Id, why: &str) -> Outgoing {
        let reason = format!("its parent {parent} {why}");
        Outgoing {
            correlation: format!("{CANCEL}{parent}"),
            actor: crate::actor::GraphRunner::KIND.to_owned(),
            name: None,
            body: serde_json::json!({ "trigger": "cancel", "reason": reason }).to_string(),
            seen: None,
        }
    }
}

/// The prefix of the library's correlation ids, which users cannot take.
pub(super) const RESERVED: &str = "machine:";

/// The prefix of those of [`Message::cancel`].
const CANCEL: &str = "machine:cancel:";

impl Outgoing {
    /// Returns `true` if it equals another message with this correlation id, by the same sender.
    /// The order of the fields of its event does not matter, because a program may write a map in
    /// any order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let value = |body| serde_json::from_str::<serde_json::Value>(body).ok();
        let same_body = || match (value(&self.body), value(&other.body)) {
            (Some(one), Some(other)) => canonical(&one) == canonical(&other),
            _ => false,
        };
        self.actor == other.actor
            && self.name == other.name
            && (self.body == other.body || same_body())
    }

    pub(crate) fn trigger(&self) -> Option<String> {
        trigger(&self.body)
    }

    /// Returns whether the library itself sends it.
    pub(crate) fn is_of_library(&self) -> bool {
        self.correlation.starts_with(RESERVED)
    }

    /// Covers what must not change.
    pub(crate) fn seal(&self, key: &DigestKey, to: Id, sent_at: Millis) -> Digest {
        key.digest(&[
            b"message",
            to.bytes(),
            self.correlation.as_bytes(),
            self.actor.as_bytes(),
            &[u8::from(self.name.is_some())],
            self.name.as_deref().unwrap_or_default().as_bytes(),
            self.body.as_bytes(),
            &sent_at.to_le_bytes(),
            &[u8::from(self.seen.is_some())],
            &self.seen.unwrap_or_default().to_le_bytes(),
        ])
    }
}

fn trigger(body: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(body).ok()?;
    value.get("trigger")?.as_str().map(str::to_owned)
}

/// Covers where a message is on its way, so that an edit does not bring one back that was handled.
/// `sent` is the seal of the sent message: another message may have had the same correlation id.
pub(crate) fn seal_of_status(key: &DigestKey, sent: &[u8; 32], status: Delivery) -> Digest {
    key.digest(&[b"status", sent, &[status as u8]])
}

/// The fields that decide whether a state takes a queued message, and when. They may be wrong,
/// because only the body is authoritative: they are compared with it before the message is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) correlation: String,
    pub(crate) actor: String,
    pub(crate) trigger: Option<String>,
    /// When it was sent, by the clock of the store.
    pub(crate) sent_at: Millis,
    pub(crate) attempts: u32,
    pub(crate) fault: Option<Fault>,
    /// Its status is as it was written.
    pub(crate) intact: bool,
}

impl Queued {
    /// Returns whether a machine that has left a visit sent it to a child of the visit.
    pub(crate) fn is_of_parent(&self) -> bool {
        self.correlation.starts_with(CANCEL)
    }
}

/// Covers the relation of a child to its parent: since when, and at which place.
pub(crate) fn seal_of_child(key: &DigestKey, child: Id, kinship: &Kinship) -> Digest {
    let Kinship { parent, since, position } = kinship;
    key.digest(&[
        b"child",
        child.bytes(),
        parent.bytes(),
        &since.to_be_bytes(),
        &[u8::from(position.is_some())],
        &position.unwrap_or_default().to_be_bytes(),
    ])
}

/// A message in the inbox of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The machine.
    pub to: Id,
    /// The correlation id.
    pub correlation: String,
    /// The kind of the actor who sent it, such as `human`.
    pub actor: String,
    /// The name of the actor.
    pub name: Option<String>,
    /// The event as JSON text.
    pub body: String,
    /// The number of transitions that the sender has seen, if the message is bound to that state:
    /// see [`Message::unless_moved`].
    pub seen: Option<u64>,
    /// When it was sent (milliseconds since the Unix epoch).
    pub sent_at: Millis,
    /// The delivery status.
    pub status: Delivery,
    /// The number of attempts by workers that did not finish it.
    pub attempts: u32,
    /// Why the message waits, or why it was set aside, in a text that may repeat data.
    pub error: Option<String>,
    /// The kind of that error, without data.
    pub cause: Option<Cause>,
}

impl Received {
    pub(crate) fn of(to: Id, sent: Outgoing, sent_at: Millis, state: MessageState) -> Self {
        let Outgoing { correlation, actor, name, body, seen } = sent;
        let MessageState { status, attempts, fault, .. } = state;
        let (cause, error) = fault.map(|fault| (fault.cause, fault.error)).unzip();
        Self { to, correlation, actor, name, body, seen, sent_at, status, attempts, error, cause }
    }

    pub(crate) fn trigger(&self) -> Option<String> {
        trigger(&self.body)
    }
}

/// The delivery status of a message.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, crate::ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// The message waits for a state that takes it.
    #[default]
    Queued = 0,
    /// The message caused a transition.
    Handled = 1,
    /// The message cannot be handled; see [`Received::error`].
    /// [`Store::requeue`](crate::store::Store::requeue) tries it again.
    SetAside = 2,
    /// The message was set aside, and a corrected message with the same correlation id came later.
    /// The message is kept, and never tried again.
    Replaced = 3,
}

impl Delivery {
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Queued, Self::Handled, Self::SetAside, Self::Replaced]
            .into_iter()
            .find(|status| *status as i64 == number)
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Queued => "queued",
            Self::Handled => "handled",
            Self::SetAside => "set aside",
            Self::Replaced => "replaced",
        })
    }
}
