use std::{collections::HashMap, sync::Mutex};

use serde::{Deserialize, Serialize, Serializer};

use super::{
    ActiveTurn, AgentId, AnyAgentHead, BoxId, CardId, Phase, StopReason, TaskEvent, TurnEnd,
    TurnId, agent_head,
};
use crate::{
    clock::Millis,
    id::Id,
    journal::{Entry, Fact},
    store::{Committed, LoadError, Position, Store, lock::lock},
};

/// An event of an agent. Its JSON has the members of its kind next to the others.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentEvent {
    /// `evt.agent.`, the name of the agent as it is, and `.task`, `.step` or `.state`.
    pub subject: String,
    /// The journal entry that the event is derived from. Each entry has at most one event per
    /// subject, so position and subject identify repeated events.
    #[serde(serialize_with = "as_text")]
    pub position: Position,
    pub timestamp: Millis,
    pub agent_id: AgentId,
    pub agent_turn_id: TurnId,
    /// The epoch of the head after the entry.
    pub turn_epoch: u64,
    /// The step in which it happened, from 1.
    pub step_id: u32,
    #[serde(flatten)]
    pub kind: AgentEventKind,
}

/// The data of an [`AgentEvent`]: ids and numbers, no contents.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AgentEventKind {
    /// `.task`: the turn has ended. Each turn has one.
    Task { status: TurnEnd, output_box_id: BoxId, deliverable_card_id: CardId },
    /// `.step`: a step has moved on.
    Step { phase: StepPhase },
    /// `.state`: the head after a transition. Each transition has one.
    State {
        /// `dispatched`, `running`, `suspended` or `idle`.
        status: String,
        /// The transition, such as `reclaim`: another worker has taken over the turn.
        trigger: String,
        /// The reason of the stop of the turn.
        stop: Option<StopReason>,
        /// The number of calls without a result.
        waiting_tool_count: usize,
    },
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepPhase {
    /// The model has answered. The turn is stopped, so the calls are not made.
    Answered,
    /// The model has answered, and none of its calls was made. The next step begins.
    Rejected,
    /// The calls of the answer are made.
    Called,
    /// A call has its result, and others have none.
    Reported,
    /// All calls have results. The next step begins, unless the turn must deliver.
    Completed,
    /// The turn is delivered.
    Delivered,
}

/// Derives the events of agents from the journal of a store, as [`subscribe`](Store::subscribe)
/// yields it, from any position. There is no other log.
///
/// Save the position of an entry after you have processed all of its events, and resume there.
/// Until then, the events may come again.
///
/// ```
/// # use machine::{agent::AgentEvents, store::{LoadError, Position, Store}};
/// # async fn example(store: &Store, kept: Option<Position>) -> Result<(), LoadError> {
/// let (agents, mut entries) = (AgentEvents::new(store), store.subscribe(kept).await?);
/// loop {
///     for event in agents.of(&entries.next().await?).await? {
///         println!("{}: {:?}", event.subject, event.kind);
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct AgentEvents {
    store: Store,
    /// The heads after the entries that came last.
    heads: Mutex<HashMap<Id, FollowedHead>>,
}

/// A head after an entry of its journal.
#[derive(Debug, Clone)]
struct FollowedHead {
    agent: AgentId,
    /// The number of the next entry.
    next: u64,
    epoch: u64,
    /// The active turn, or the last one.
    turn: Option<ActiveTurn>,
}

impl AgentEvents {
    /// The events of the agents of this store.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), heads: Mutex::default() }
    }

    /// The events of an entry: none if it is not a transition of an agent; otherwise the event of
    /// the step, if it has moved on, of the task, if the turn has ended, and of the state. Entries
    /// may come in any order; consecutive entries need no read.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the head of the agent cannot be read now, or has another form.
    pub async fn of(&self, committed: &Committed) -> Result<Vec<AgentEvent>, LoadError> {
        let Committed { position, id, definition, entry } = committed;
        if definition.name != agent_head::DEFINITION.name {
            return Ok(Vec::new());
        }
        let known = lock(&self.heads).get(id).filter(|head| head.next == entry.number).cloned();
        let mut head = match known {
            Some(head) => head,
            None => self.before(*id, entry).await?,
        };
        let told = head.follow(entry)?;
        lock(&self.heads).insert(*id, head.clone());
        let Some(turn) = head.turn else { return Ok(Vec::new()) };
        let event = |(name, step_id, kind): Told| AgentEvent {
            subject: format!("evt.agent.{}.{name}", head.agent.0),
            position: *position,
            timestamp: entry.at,
            agent_id: head.agent.clone(),
            agent_turn_id: turn.id,
            turn_epoch: head.epoch,
            step_id,
            kind,
        };
        Ok(told.into_iter().map(event).collect())
    }

    /// The head before an entry, from those since the last one that has set its epoch.
    async fn before(&self, id: Id, entry: &Entry) -> Result<FollowedHead, LoadError> {
        let agent = self.store.load::<AnyAgentHead>(id).await?.context().agent.clone();
        let (mut past, mut first) = (Vec::new(), entry.number);
        let mut has_epoch = epoch_of(entry).is_some();
        while first > 0 && !has_epoch {
            // With the entry come up to 100 before it.
            let page = self.store.history_part(id, first - 1, 1).await?.history.entries;
            let Some(oldest) = page.first() else { break };
            first = oldest.number;
            has_epoch = page.iter().any(|entry| epoch_of(entry).is_some());
            past.extend(page.into_iter().rev());
        }
        let mut head = FollowedHead { agent, next: 0, epoch: 0, turn: None };
        for entry in past.iter().rev() {
            head.follow(entry)?;
        }
        Ok(head)
    }
}

/// The end of the subject of an event, its step, and what it tells.
type Told = (&'static str, u32, AgentEventKind);

impl FollowedHead {
    /// Follows an entry. Returns what it tells.
    fn follow(&mut self, entry: &Entry) -> Result<Vec<Told>, LoadError> {
        self.next = entry.number.saturating_add(1);
        let Fact::Moved { to, trigger, payload, .. } = &entry.fact else { return Ok(Vec::new()) };
        let id = self.agent.head();
        let other = |error: serde_json::Error| {
            let (kind, reason) = (agent_head::DEFINITION.name.to_string(), error.to_string());
            LoadError::OtherForm { kind, id, reason }
        };
        self.epoch = epoch_of(entry).unwrap_or(self.epoch);
        let before = self.turn.take();
        self.turn = match payload.get("turn").or_else(|| payload.get("next")) {
            Some(turn) => Some(ActiveTurn::deserialize(turn).map_err(other)?),
            // A deadline has no payload.
            None if trigger == "limit" => before.clone().map(ActiveTurn::timed_out),
            None => before.clone(),
        };
        let Some(turn) = &self.turn else { return Ok(Vec::new()) };
        let step = before.filter(|it| it.id == turn.id).map_or(turn.step, |it| it.step);
        let is_answered = matches!(turn.phase, Phase::Running { answer: Some(_) });
        let phase = match &**trigger {
            "call" => Some(StepPhase::Called),
            "report" if turn.waiting.is_empty() => Some(StepPhase::Completed),
            "report" => Some(StepPhase::Reported),
            "deliver" => Some(StepPhase::Delivered),
            // A limit can stop the turn with its answer.
            "answer" | "stop" if turn.step > step => Some(StepPhase::Rejected),
            "answer" | "stop" if is_answered => Some(StepPhase::Answered),
            _ => None,
        };
        let phase = phase.map(|phase| ("step", step, AgentEventKind::Step { phase }));
        let mut told: Vec<Told> = phase.into_iter().collect();
        let (mut waiting_tool_count, stop) = (turn.waiting.len(), turn.stop);
        if let Some(event) = payload.get("event") {
            let event = TaskEvent::deserialize(event).map_err(other)?;
            let (output_box_id, deliverable_card_id) = (event.output_box, event.deliverable);
            let status = event.end;
            let task = AgentEventKind::Task { status, output_box_id, deliverable_card_id };
            told.push(("task", step, task));
            waiting_tool_count = 0;
        }
        let (status, trigger) = (to.to_string(), trigger.to_string());
        let state = AgentEventKind::State { status, trigger, stop, waiting_tool_count };
        told.push(("state", step, state));
        Ok(told)
    }
}

/// The epoch that an entry sets: it dispatches the turn, or another worker takes it over.
fn epoch_of(entry: &Entry) -> Option<u64> {
    let Fact::Moved { payload, .. } = &entry.fact else { return None };
    payload.get("epoch")?.as_u64()
}

fn as_text<S: Serializer>(position: &Position, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(position)
}
