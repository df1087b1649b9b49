use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AfterExecution, CardId, MemberId, Resource, StopReason, Task, TurnId, Usage};
use crate::clock::Millis;

/// The head of an agent: its epoch, and its active turn. There is one for each agent, so that an
/// agent has at most one active turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Head {
    /// It rises with each dispatch and each reclaim.
    pub epoch: u64,
    /// The active turn; `None` if the agent is idle.
    pub active: Option<ActiveTurn>,
}

/// The active turn of an agent.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ActiveTurn {
    pub id: TurnId,
    pub task: Task,
    pub dispatched_at: Millis,
    /// The reason of its stop. A stopped turn can only deliver.
    pub stop: Option<StopReason>,
    /// The current step, from 1.
    pub step: u32,
    /// The number of calls that the current step has made or closed.
    pub calls: u32,
    /// The number of calls of the answer, until the step makes or closes them.
    pub unmade: u32,
    /// The turns that it has delegated and no longer waits for: their calls were overdue.
    pub overdue: Vec<TurnId>,
    /// The number of consecutive rejected answers: none of their calls was made.
    pub rejected: u32,
    /// The calls of the current step that wait for their results, in order.
    pub waiting: Vec<Member>,
    /// The continuation after the last result.
    pub after_step: AfterExecution,
    pub usage: Usage,
    pub phase: Phase,
}

/// The state of an active turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No worker has claimed it.
    Dispatched,
    /// A worker runs the current step, or will deliver the turn because it is stopped. Calls are
    /// open only if the turn was stopped while it waited.
    Running {
        /// The answer of the model in this step.
        answer: Option<CardId>,
    },
    /// It waits for the results of its open calls.
    Suspended,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dispatched => "dispatched",
            Self::Running { .. } => "running",
            Self::Suspended => "suspended",
        })
    }
}

/// A call in the waiting set: the turn waits for its result.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    pub id: MemberId,
    /// The `tool_call_id` of the model provider.
    pub call_id: String,
    pub source: CallSource,
    /// From this time on, the result is that the call is overdue.
    pub deadline: Option<Millis>,
    /// Applies unless the result says otherwise. A call that timed out has no continuation, and
    /// does not end the turn.
    pub after: AfterExecution,
}

/// The source of the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// The execution at this position in the step. An earlier step may have made it.
    Execution(u32),
    /// A turn of another agent.
    Turn(TurnId),
    /// A message from outside.
    Outside,
}

impl CallSource {
    pub(super) fn turn(self) -> Option<TurnId> {
        if let Self::Turn(turn) = self { Some(turn) } else { None }
    }
}

impl ActiveTurn {
    /// Returns whether the turn may no longer ask the model or make calls.
    #[must_use]
    pub fn must_deliver(&self) -> bool {
        self.stop.is_some() || self.after_step == AfterExecution::Terminate
    }

    /// The calls of the current step without a result, by index. A delivery has one for each.
    #[must_use]
    pub fn unanswered(&self) -> Vec<u32> {
        (0..self.unmade).chain(self.waiting.iter().map(|member| member.id.index)).collect()
    }

    /// Stops the turn: it delivers next. The first reason counts. Calls without a result stay so
    /// until then.
    pub(super) fn stop_with(&mut self, why: StopReason) {
        self.stop.get_or_insert(why);
        if !matches!(self.phase, Phase::Running { .. }) {
            self.phase = Phase::Running { answer: None };
        }
    }

    /// When its time limit stops it.
    pub(super) fn ends_at(&self) -> Option<Millis> {
        let limit = self.task.terms.limits.time_ms?;
        Some(self.dispatched_at.saturating_add(limit))
    }

    pub(super) fn timed_out(mut self) -> Self {
        self.stop_with(StopReason::Limit(Resource::Time));
        self
    }

    /// The turns that it has delegated, without those whose results it has.
    pub(super) fn children(&self) -> impl Iterator<Item = TurnId> {
        let waiting = self.waiting.iter().filter_map(|member| member.source.turn());
        self.overdue.iter().copied().chain(waiting)
    }

    /// The open call with this identity.
    #[must_use]
    pub fn member(&self, id: MemberId) -> Option<&Member> {
        self.waiting.iter().find(|member| member.id == id)
    }
}
