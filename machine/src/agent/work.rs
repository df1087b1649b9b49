use std::time::Duration;

use serde_json::Value;

use super::{AfterExecution, AgentId, Task};
use crate::contract::ToolCall;

/// The next action of an agent in its turn.
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
/// delivered as a failure, and so is one of more than [`MAX_CARD`](super::MAX_CARD) bytes. Let a
/// model [submit](CallTarget::Submit) its result instead: then it learns of such errors.
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

/// An answer of a model. One batch writes the answer, its calls, and the set of calls that the turn
/// waits for. If none of its calls is made, the answer is rejected, and the next step begins; the
/// third [consecutive](super::MAX_REJECTED) rejection fails the turn.
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

/// A call of a model. A call that the protocol refuses is closed with the reason; the others are
/// made.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// The name of the tool that the model has called.
    pub tool: String,
    /// The `tool_call_id` of the model provider.
    pub call_id: String,
    /// The target of the call.
    pub target: CallTarget,
    /// How long the turn waits for the call. This does not limit the call itself: a later result
    /// stays with the execution. A call that has not begun when the turn runs again is cancelled.
    pub within: Option<Duration>,
    /// Applies if the result has no `__cg_control.after_execution`. So a receipt, or an answer from
    /// outside, can end the turn if it is a JSON object. If a tool returns foreign text, such as a
    /// page or a file, put the text in a member of an object, and never return it as the whole
    /// receipt.
    pub after: AfterExecution,
}

/// The target of a model's call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallTarget {
    /// A tool of the worker.
    Tool(ToolCall),
    /// Another agent, which gets a turn with this task. Such a call needs a time limit.
    Agent {
        /// The agent.
        agent: AgentId,
        /// Its task. It gets the trace of the calling turn.
        task: Task,
    },
    /// Something outside of the store, such as a person, which [answers](super::Agents::answer).
    Outside,
    /// [`submit_result`](super::SUBMIT_RESULT), which ends the turn with this result. It must be
    /// the only call of its answer. The model learns which fields are missing, at most
    /// [twice](super::MAX_REJECTED) in a row; then a failure is delivered.
    Submit(Value),
    /// Nothing: the call is closed with this result, for example because it is denied. If the
    /// result has more than [`MAX_CARD`](super::MAX_CARD) bytes, the model gets a refusal instead.
    Closed(Value),
}
