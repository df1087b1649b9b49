use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{AgentId, BoxId, CardId, Limits, MemberId, StopReason, TurnEnd, TurnId};
use crate::{Id, clock::Millis};

/// The task of a turn: pointers, no contents.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Task {
    /// The input. The turn only reads it.
    pub context_box: BoxId,
    /// The number of cards at the start of the context box that are the input. Later cards are not
    /// read, so that the input does not change while other turns write to the box.
    pub context_cards: u64,
    /// The output. Only the turn writes to it.
    pub output_box: BoxId,
    /// The trace that the turn belongs to. A delegated turn has that of its parent.
    pub trace: Id,
    #[serde(default = "unreadable", deserialize_with = "readable")]
    pub terms: Terms,
}

fn readable<'de, D: Deserializer<'de>>(reader: D) -> Result<Terms, D::Error> {
    let terms = Value::deserialize(reader)?;
    Ok(serde_json::from_value(terms).unwrap_or_else(|_| unreadable()))
}

fn unreadable() -> Terms {
    Terms { unreadable: true, ..Terms::default() }
}

/// The terms of a task. The rest of the task is enough to deliver the turn, if they cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Terms {
    /// The fields that the result must have (`task.result_fields`).
    pub result_fields: Vec<String>,
    /// The limits of the turn.
    pub limits: Limits,
    /// They could not be read, and are the default ones. A worker stops the turn as
    /// [unreadable](StopReason::Unreadable).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreadable: bool,
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
/// one agent, whose turns run one after the other: so the box has one writer. It stays when none
/// is live.
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
