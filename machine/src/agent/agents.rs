use serde_json::{Value, json};

use super::{
    AgentError, AgentHead, AgentId, AnyAgentHead, BoxId, Card, CardId, Head, HeadContext, MAX_CARD,
    MemberId, NewTurn, StopReason, TurnBatch, TurnId, TurnRecord, TurnRefusal, TurnRequest,
    TurnStop, decide,
    stored::{self, Bodies, CARD, StoredRows},
};
use crate::{
    actor::Human,
    effects::EffectError,
    id::Id,
    journal::is_too_deep,
    operate::{Error, ErrorKind, Operator},
    store::{
        CommitError, LoadError, Store,
        backend::{Condition, Records},
        inbox::protocol::Event,
        operation::{Act, Operation},
    },
};

/// The agents of a store, and the queues of their turns. A [`Driver`](super::Driver) runs the
/// turns.
#[derive(Debug, Clone)]
pub struct Agents(pub(super) Store);

fn stop_of(by: &Human, heads: &[Id], turn: TurnId) -> Act {
    Act::new(by, "stop", heads, &format!("turn {turn}"))
}

/// The number of lines of the operator log among which the first stop of a turn is looked for.
const NEWEST: usize = 1000;

/// The maximum number of tries while the head keeps changing.
const MAX_TRIES: usize = 1000;

impl Agents {
    /// The agents of this store.
    #[must_use]
    pub fn of(store: &Store) -> Self {
        Self(store.clone())
    }

    /// Creates an agent, unless it is there.
    ///
    /// # Errors
    ///
    /// [`CommitError::Refused`] if the name is not a line of visible text, and those of
    /// [`Store::create`].
    pub async fn create(&self, agent: &AgentId) -> Result<(), AgentError> {
        let mut head = AgentHead::new(HeadContext { agent: agent.clone() }, 0);
        match self.0.create(&mut head).await {
            Ok(()) | Err(EffectError::Commit(CommitError::AlreadyStored { .. })) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds a turn to the queue of its agent. If the agent is idle and its queue is empty, the turn
    /// is dispatched in the same batch. Repeating the call changes nothing.
    ///
    /// # Errors
    ///
    /// [`TurnRefusal`], and the other errors if the storage cannot do it now.
    pub async fn enqueue(&self, new: NewTurn) -> Result<(), AgentError> {
        self.add(&new, false).await
    }

    /// Adds a turn for an action of a person, and dispatches it in the same batch. Repeating the
    /// call changes nothing.
    ///
    /// # Errors
    ///
    /// [`TurnRefusal::Busy`] if the agent has an active turn, and those of
    /// [`enqueue`](Self::enqueue).
    pub async fn ui_action(&self, new: NewTurn) -> Result<(), AgentError> {
        self.add(&new, true).await
    }

    async fn add(&self, new: &NewTurn, at_once: bool) -> Result<(), AgentError> {
        for _ in 1..MAX_TRIES {
            match self.try_to_add(new, at_once).await {
                // The head, or the use of the box, has changed since it was read.
                Err(AgentError::Commit(error)) if error.is_conflict() => {}
                added => return added,
            }
        }
        self.try_to_add(new, at_once).await
    }

    async fn try_to_add(&self, new: &NewTurn, at_once: bool) -> Result<(), AgentError> {
        let (store, agent, task, now) = (&self.0, &new.agent, &new.task, self.0.now());
        let head = self.load(agent).await?;
        let mut stored = StoredRows::of(&head);
        stored.load(store, &[new.id], &task.boxes().collect::<Vec<_>>()).await?;
        // The queue of an idle agent is empty, unless a worker is about to dispatch its first turn.
        let is_free = head.turn().is_none() && stored.queue(store, agent, 1).await?.is_empty();
        let new = new.clone();
        let request = if at_once || is_free {
            TurnRequest::UiAction { new, now }
        } else {
            TurnRequest::Enqueue { new, now }
        };
        self.write(head, &stored, &request, None).await
    }

    /// Stops a turn, in the queue or active, as [requested](StopReason::Requested) by a person. The
    /// turn is delivered with this reason. A turn that has not begun does not run; otherwise, the
    /// future of its [`Agent`] is dropped within about a second, or its result becomes the result
    /// of the stopped turn. The queued turns that it delegated are stopped, too. Stopping a turn
    /// that is stopped, or has ended, changes nothing. The operator log has a line for each stop,
    /// with its answer, and the journal of the head names the person.
    ///
    /// # Errors
    ///
    /// [`TurnRefusal::UnknownTurn`], and the other errors if the storage cannot do it now.
    ///
    /// [`Agent`]: super::Agent
    pub async fn stop(&self, turn: TurnId, by: &Human) -> Result<TurnStop, AgentError> {
        let mut tries = 0;
        let stopped = loop {
            tries += 1;
            match self.try_to_stop(turn, by).await {
                // The head, or the turn, has changed since it was read.
                Err(AgentError::Commit(error)) if error.is_conflict() && tries < MAX_TRIES => {}
                Err(AgentError::Refused(TurnRefusal::NotActive { .. })) if tries < MAX_TRIES => {}
                Err(AgentError::Refused(TurnRefusal::Stopped { why, .. })) => {
                    let by = self.stopped_by(&stop_of(by, &[], turn)).await?;
                    break Ok(TurnStop::AlreadyStopped { why, by });
                }
                Err(AgentError::Refused(TurnRefusal::Ended { end, deliverable, .. })) => {
                    break Ok(TurnStop::Ended { end, deliverable });
                }
                stopped => break stopped.map(|()| TurnStop::Stopped(StopReason::Requested)),
            }
        };
        let stopped = self.0.log_refusal([stop_of(by, &[], turn)], stopped).await?;
        if !matches!(stopped, TurnStop::Stopped(_)) {
            // No batch was written, which would have its line.
            let head = self.turn(turn).await?.map(|record| record.agent.head());
            let store = self.0.acting(stop_of(by, head.as_slice(), turn));
            store.log(&stopped.to_string()).await.map_err(LoadError::from)?;
        }
        Ok(stopped)
    }

    /// The person who did this before, if the newest lines of the operator log say so.
    async fn stopped_by(&self, act: &Act) -> Result<Option<String>, LoadError> {
        let is_stop = |line: &Operation| {
            (&*line.operation, &line.detail) == (act.operation, &act.detail)
                && line.outcome.as_deref() == Some("done")
        };
        let lines = self.0.operations(NEWEST, None).await?.items;
        Ok(lines.into_iter().flatten().find(is_stop).map(|line| line.by))
    }

    async fn try_to_stop(&self, turn: TurnId, by: &Human) -> Result<(), AgentError> {
        let mut stored = StoredRows::default();
        stored.load(&self.0, &[turn], &[]).await?;
        let record = stored.rows.turns.get(&turn).ok_or(TurnRefusal::UnknownTurn { turn })?;
        let agent = record.agent.clone();
        let head = self.load(&agent).await?;
        stored.rows.heads.insert(agent, head.head());
        if let Some(active) = head.turn().filter(|active| active.id == turn) {
            stored.children(&self.0, active).await?;
        }
        let request = TurnRequest::Stop { turn, why: StopReason::Requested };
        let act = stop_of(by, &[head.id()], turn);
        self.write(head, &stored, &request, Some(act)).await
    }

    /// Answers a call of an agent to [something outside](super::CallTarget::Outside), with JSON. If
    /// the [card](Card) would be nested too deeply (one level more than the answer), it keeps the
    /// answer as text. If the turn no longer waits for the answer, the store keeps it, and nothing
    /// else changes. Repeating the call changes nothing.
    ///
    /// # Errors
    ///
    /// [`TurnRefusal::UnknownCall`], [`TurnRefusal::FinishedCall`] if it has another answer,
    /// [`TurnRefusal::TooLarge`], and the other errors if the storage cannot do it now.
    pub async fn answer(&self, call: MemberId, answer: Value) -> Result<(), AgentError> {
        let is_text = is_too_deep(&json!({ "answer": answer }));
        let answer: Value = if is_text { answer.to_string().into() } else { answer };
        let card = CardId(call.answer());
        let size = json!({ "answer": answer }).to_string().len() as u64;
        if size > MAX_CARD {
            return Err(TurnRefusal::TooLarge { card, size }.into());
        }
        loop {
            match self.try_to_answer(call, &answer).await {
                // Another answer came first, and none comes after that.
                Err(AgentError::Commit(error)) if error.is_conflict() => {}
                answered => return answered,
            }
        }
    }

    /// Writes the answer, and has the worker of the head look at it.
    async fn try_to_answer(&self, call: MemberId, answer: &Value) -> Result<(), AgentError> {
        let (mut stored, now) = (StoredRows::default(), self.0.now());
        let mut asked = stored.asked(&self.0, vec![call.answer()]).await?;
        let Some(mut asked) = asked.remove(&call.answer()) else {
            return Err(TurnRefusal::UnknownCall { member: call }.into());
        };
        match &asked.answer {
            None => asked.answer = Some((now, answer.clone())),
            Some((_, known)) if known == answer => return Ok(()),
            Some(_) => return Err(TurnRefusal::FinishedCall { member: call }.into()),
        }
        let batch = self.0.batch().records([stored.answer(call, &asked)]);
        let news = Event::Notify { moved: false, now };
        Ok(batch.event(asked.agent.head(), news).write().await?)
    }

    /// Writes what a request changes, if the head is the one that was read: one that has moved may
    /// be idle, and nothing would dispatch a turn in its queue.
    async fn write(
        &self,
        head: AnyAgentHead,
        stored: &StoredRows,
        request: &TurnRequest,
        act: Option<Act>,
    ) -> Result<(), AgentError> {
        let batch = decide(&stored.rows, request)?;
        if batch == TurnBatch::default() {
            return Ok(());
        }
        let (id, version) = (head.id(), head.journal().version());
        let person = act.as_ref().map(|act| act.by.clone());
        let mut head = head.moved(&batch, Vec::new(), person);
        self.0
            .batch()
            .on_condition(Condition::Version { id, version })
            .act(act)
            .commit(&mut head)
            .records(stored.records(&batch, &Bodies::new()))
            .write()
            .await?;
        Ok(())
    }

    /// The head of an agent.
    ///
    /// # Errors
    ///
    /// [`TurnRefusal::UnknownAgent`], and [`AgentError::Load`] if it cannot be read now.
    pub async fn head(&self, agent: &AgentId) -> Result<Head, AgentError> {
        Ok(self.load(agent).await?.head())
    }

    async fn load(&self, agent: &AgentId) -> Result<AnyAgentHead, AgentError> {
        match self.0.load(agent.head()).await {
            Err(LoadError::NotFound { .. }) => {
                Err(TurnRefusal::UnknownAgent { agent: agent.clone() }.into())
            }
            loaded => Ok(loaded?),
        }
    }

    /// The queued turns of an agent, oldest first; at most `limit`.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if they cannot be read now, or one of them was edited.
    pub async fn queued(
        &self,
        agent: &AgentId,
        limit: usize,
    ) -> Result<Vec<(TurnId, TurnRecord)>, LoadError> {
        stored::queued(&self.0, agent, limit).await?.into_iter().collect()
    }

    /// The record of a turn; `None` if it is unknown.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if it cannot be read now, or it was edited.
    pub async fn turn(&self, turn: TurnId) -> Result<Option<TurnRecord>, LoadError> {
        let mut stored = StoredRows::default();
        stored.load(&self.0, &[turn], &[]).await?;
        Ok(stored.rows.turns.remove(&turn))
    }

    /// The cards of a box with their bodies, in the order in which they were written; at most
    /// `limit`.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if they cannot be read now, or one of them was edited.
    pub async fn cards(
        &self,
        box_id: BoxId,
        limit: usize,
    ) -> Result<Vec<(Card, Value)>, LoadError> {
        let list = box_id.to_string();
        stored::cards(&self.0, Records::Listed { kind: CARD, list, after: None, limit }).await
    }
}

impl Operator<'_> {
    /// Stops a turn of an agent, as [`Agents::stop`] does.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed.
    pub async fn stop_turn(&self, turn: TurnId) -> Result<TurnStop, Error> {
        Ok(Agents::of(&self.store).stop(turn, self.by).await?)
    }
}

impl From<AgentError> for Error {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Load(error) => error.into(),
            AgentError::Commit(error) => error.into(),
            error if error.is_unknown() => Self::of(ErrorKind::NotFound, error),
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}
