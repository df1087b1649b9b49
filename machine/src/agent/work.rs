use std::time::Duration;

use serde_json::Value;

use super::{AfterExecution, AgentId, Task};
use crate::contract::ToolCall;

/// What an agent does next with its turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// It ends the turn with this result.
    Deliver(Deliverable),
    /// It makes the calls of an answer of a model. When all of them have results, the agent is
    /// called again.
    Call(ModelAnswer),
}

/// The result of a turn, as JSON. The members of an object are its fields.
///
/// A result that lacks a field of [`Terms::result_fields`](super::Terms::result_fields) is
/// delivered as a failure, and so is one of more than [`MAX_CARD`](super::MAX_CARD) bytes. That of
/// a model, which can hear of it, is [submitted](CallTarget::Submit).
#[derive(Debug, Clone, PartialEq)]
pub enum Deliverable {
    /// The result.
    Done(Value),
    /// A description of the failure.
    Failed(Value),
}

impl From<Deliverable> for Work {
    fn from(result: Deliverable) -> Self {
        Self::Deliver(result)
    }
}

/// An answer of a model. It is written in one batch with its calls, and with the set of those that
/// the turn waits for. An answer of which no call is made is rejected, and the next step begins;
/// the third one [in a row](super::MAX_REJECTED) fails the turn.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelAnswer {
    /// The body of its card: text, calls, reasoning.
    pub body: Value,
    /// All of its calls, in its order.
    pub calls: Vec<AgentCall>,
    pub tokens: u64,
    /// Its price, in millionths of a currency unit.
    pub cost: u64,
}

/// A call of a model. One that the protocol refuses is closed with the reason; the others are made.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// The name of the tool that the model has called.
    pub tool: String,
    /// The `tool_call_id` of the model provider.
    pub call_id: String,
    /// What it calls.
    pub target: CallTarget,
    /// The time that the turn waits for it. It does not limit the call: a later result stays with
    /// the execution. One that has not begun when the turn runs again is cancelled.
    pub within: Option<Duration>,
    /// Applies if the result has no `__cg_control.after_execution`. A receipt, or an answer from
    /// outside, that is a JSON object can so end the turn. A tool that returns text of others, such
    /// as a page or a file, must not let it be the whole receipt: put it in a member of an object.
    pub after: AfterExecution,
}

/// What a call of a model calls.
#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    /// A tool of the worker.
    Tool(ToolCall),
    /// Another agent, which gets a turn with this task. Such a call needs a limit of time.
    Agent {
        /// The agent.
        agent: AgentId,
        /// Its task. It gets the trace of the calling turn.
        task: Task,
    },
    /// Something outside of the store, such as a person, which [answers](super::Agents::answer).
    Outside,
    /// [`submit_result`](super::SUBMIT_RESULT), which ends the turn with this result. It is the
    /// only call of its answer. The model hears which fields are missing, at most
    /// [twice](super::MAX_REJECTED) in a row; then a failure is delivered.
    Submit(Value),
    /// Nothing: this is its result. It is denied, for example. A result of more than
    /// [`MAX_CARD`](super::MAX_CARD) bytes is refused to the model.
    Closed(Value),
}
