use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{AgentId, BoxId, CardId, MemberId, StopReason, TurnEnd, TurnId};
use crate::{Id, clock::Millis, journal::Digest};

/// The task of a turn: pointers, no contents.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Task {
    /// The input. The turn only reads it.
    pub context_box: BoxId,
    /// The number of cards at the start of the context box that form the input. Later cards are not
    /// read, so that the input does not change while other turns write to the box.
    pub context_cards: u64,
    /// The output. Only the turn writes to it.
    pub output_box: BoxId,
    /// The trace that the turn belongs to. A delegated turn has the trace of its parent.
    pub trace: Id,
    #[serde(default = "unreadable", deserialize_with = "readable")]
    pub terms: Terms,
}

impl Task {
    /// The boxes whose rows count when it is enqueued.
    pub(super) fn boxes(&self) -> impl Iterator<Item = BoxId> {
        let context = (self.context_cards > 0).then_some(self.context_box);
        std::iter::once(self.output_box).chain(context)
    }
}

fn readable<'de, D: Deserializer<'de>>(reader: D) -> Result<Terms, D::Error> {
    let terms = Value::deserialize(reader)?;
    Ok(serde_json::from_value(terms).unwrap_or_else(|_| unreadable()))
}

fn unreadable() -> Terms {
    Terms { unreadable: true, ..Terms::default() }
}

/// The terms of a task. If they cannot be read, the rest of the task is enough to deliver the turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Terms {
    /// The fields that the result must have (`task.result_fields`).
    pub result_fields: Vec<String>,
    /// The limits of the turn.
    pub limits: Limits,
    /// The stored terms could not be read, so these are the defaults. A worker stops the turn as
    /// [unreadable](StopReason::Unreadable).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreadable: bool,
}

/// The limits of a turn. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// The number of steps.
    pub steps: Option<u32>,
    /// The number of calls, of all steps.
    pub calls: Option<u32>,
    /// The time since the dispatch, in milliseconds.
    pub time_ms: Option<Millis>,
    /// The tokens of all answers of models.
    pub tokens: Option<u64>,
    /// The price of all answers of models, in millionths of a currency unit.
    pub cost: Option<u64>,
}

/// The resources that a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// The calls that it has made.
    pub calls: u32,
    /// The tokens of its answers of models.
    pub tokens: u64,
    /// Their price, in millionths of a currency unit.
    pub cost: u64,
}

/// A resource that a turn can use up, by the name of its limit.
#[allow(missing_docs, reason = "the names of the limits say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Steps,
    Calls,
    Time,
    Tokens,
    Cost,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        })
    }
}

impl Limits {
    /// The first limit that ends a turn in this step: a count that exceeds its limit, or the
    /// elapsed time that reaches it.
    #[must_use]
    pub fn ended(&self, step: u32, usage: &Usage, elapsed: Millis) -> Option<Resource> {
        let is_over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        [
            (Resource::Steps, step.into(), self.steps.map(u64::from)),
            (Resource::Calls, usage.calls.into(), self.calls.map(u64::from)),
            (Resource::Tokens, usage.tokens, self.tokens),
            (Resource::Cost, usage.cost, self.cost),
        ]
        .into_iter()
        .find_map(|(resource, used, limit)| is_over(used, limit).then_some(resource))
        .or(self.time_ms.is_some_and(|limit| elapsed >= limit).then_some(Resource::Time))
    }
}

/// The record of a turn, from its enqueueing on.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnRecord {
    pub agent: AgentId,
    pub task: Task,
    /// The call that delegated it.
    pub parent: Option<MemberId>,
    pub enqueued_at: Millis,
    /// The reason of its stop, if it was stopped in the queue.
    pub stop: Option<StopReason>,
    pub status: TurnStatus,
    /// When it was [pruned](super::Agents::prune), after its delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned_at: Option<Millis>,
}

/// The status of a turn.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// It waits for earlier turns of its agent.
    Queued,
    /// It is the active turn of its agent.
    Active,
    /// It has ended.
    Delivered { end: TurnEnd, deliverable: CardId, at: Millis },
}

/// The use of a box as an output. All live turns (queued or active) that write to a box belong to
/// one agent, whose turns run one after the other, so the box has one writer. The record stays when
/// no turn is live.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BoxUse {
    /// The agent of the live turns, or of the last one.
    pub agent: AgentId,
    /// The number of live turns.
    pub live: u64,
    /// The number of cards in the box.
    pub cards: u64,
}

/// An edge of the graph of executions.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnEdge {
    pub primitive: Primitive,
    pub phase: EdgePhase,
    /// The turn that is enqueued or joined, or that receives the report.
    pub turn: TurnId,
    /// The call that enqueues or joins it, or that is reported.
    pub member: Option<MemberId>,
    pub trace: Id,
    pub at: Millis,
}

/// The operation that an edge records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Primitive {
    /// A turn is enqueued.
    Enqueue,
    /// A call is reported to its turn.
    Report,
    /// A call waits for a turn of another agent.
    Join,
}

/// The direction of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgePhase {
    /// From the caller.
    Request,
    /// To the caller.
    Response,
}

/// The one event of a turn (`evt.agent.*.task`): ids, no contents.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskEvent {
    pub agent: AgentId,
    pub turn: TurnId,
    /// The epoch in which it was delivered.
    pub epoch: u64,
    pub end: TurnEnd,
    pub output_box: BoxId,
    pub deliverable: CardId,
    /// The call that delegated the turn. The event is a message to that turn, and wakes it.
    pub parent: Option<MemberId>,
}

/// The largest body of a card, in bytes.
pub const MAX_CARD: u64 = 1 << 20;

/// A card that a request writes. The protocol chooses its box and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NewCard {
    /// The identity of the card.
    pub id: CardId,
    /// The digest of its body.
    pub digest: Digest,
    /// The length of its body, in bytes.
    pub size: u64,
}

/// A card, without its body. Cards are immutable. A body that is nested more than 120 levels deep
/// is stored as text, because no program could read it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Card {
    /// Its identity, digest and length.
    pub header: NewCard,
    /// The box that has it.
    pub box_id: BoxId,
    /// The kind of its body.
    pub kind: CardKind,
    /// The turn that wrote it.
    pub turn: TurnId,
    /// The epoch in which it was written.
    pub epoch: u64,
    /// The step of the turn.
    pub step: u32,
    /// The place among the cards of this kind in the step.
    pub index: u32,
    /// When its turn was [pruned](super::Agents::prune). From then on its body is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned_at: Option<Millis>,
}

impl Card {
    /// The call that it is about, if it is about one.
    pub(super) fn member(&self) -> MemberId {
        MemberId { turn: self.turn, step: self.step, index: self.index }
    }
}

/// The kind of a card that a turn writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CardKind {
    /// The answer of a model: text, calls, reasoning, usage.
    #[serde(rename = "model.answer")]
    Answer,
    /// A call.
    #[serde(rename = "tool.call")]
    ToolCall,
    /// The one result of a call.
    #[serde(rename = "tool.result")]
    ToolResult,
    /// The result of the turn.
    #[serde(rename = "task.deliverable")]
    Deliverable,
}
