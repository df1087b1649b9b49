use super::{AfterExecution, AgentId, MemberId, NewCard, StopReason, Task, TurnEpoch, TurnId};
use crate::clock::Millis;

/// The name of the tool that ends a turn with its result. The result is delivered; the tool is
/// never called.
pub const SUBMIT_RESULT: &str = "submit_result";

/// Maximum number of calls in a step.
pub const MAX_MEMBERS: u32 = 256;

/// Maximum length of the name of a tool and of a `tool_call_id`, in bytes.
pub const MAX_NAME: usize = 200;

/// Maximum number of consecutive rejected answers, of whose calls none is made. After more, the
/// turn delivers a failure, so that it does not continue forever.
pub const MAX_REJECTED: u32 = 2;

/// A request to the protocol of turns. All times are inputs, by the clock of the store.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnRequest {
    /// Adds a turn to the queue of its agent. Idempotent.
    Enqueue { new: NewTurn, now: Millis },
    /// Adds a turn, unless it is queued, and dispatches it in the same batch, if the agent is idle.
    /// Idempotent.
    UiAction { new: NewTurn, now: Millis },
    /// Makes the oldest queued turn, if there is one, the active one.
    Dispatch { agent: AgentId, now: Millis },
    /// A worker begins a dispatched turn.
    Claim { by: TurnEpoch },
    /// A worker takes over a turn that another worker has not given back: the epoch rises.
    Reclaim { by: TurnEpoch },
    /// The model has answered. A stopped turn records the answer too, because it is paid for.
    Answered(NewAnswer),
    /// The turn makes or closes each call of the answer, and waits for the results of the calls
    /// made. If no call is made, the answer is rejected, and in the next step the model learns that
    /// its calls were denied, or what its result lacks. If a limit is used up, the turn is stopped
    /// instead.
    Call {
        by: TurnEpoch,
        /// All calls of the answer, in its order.
        members: Vec<NewMember>,
        now: Millis,
    },
    /// A call has its result.
    Report { by: TurnEpoch, member: MemberId, outcome: WaitOutcome, card: NewCard, now: Millis },
    /// Stops a turn, even in the queue. The turn delivers with this reason. The time limit of a
    /// turn is a deadline of the head, which stops the turn without a request.
    Stop { turn: TurnId, why: StopReason },
    /// Ends the turn: its deliverable, its event and the idle head are one batch.
    Deliver(NewDelivery),
}

/// A turn to enqueue.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewTurn {
    /// The identity, made by the runtime.
    pub id: TurnId,
    pub agent: AgentId,
    pub task: Task,
}

/// An answer of a model.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewAnswer {
    pub by: TurnEpoch,
    pub card: NewCard,
    /// The number of its calls.
    pub calls: u32,
    pub tokens: u64,
    /// Its price, in millionths of a currency unit.
    pub cost: u64,
    pub now: Millis,
}

/// A call that a turn makes.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewMember {
    pub tool: String,
    /// The `tool_call_id` of the model provider.
    pub call_id: String,
    pub card: NewCard,
    pub source: NewSource,
    /// From this time on, the call is overdue.
    pub deadline: Option<Millis>,
    /// Applies if the result does not say otherwise.
    pub after: AfterExecution,
}

/// The source of the result of a new call.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NewSource {
    /// An execution.
    Execution,
    /// A turn of another agent, which is enqueued in the same batch.
    Turn { agent: AgentId, task: Task },
    /// A message from outside.
    Outside,
    /// The call is not made, for example because it is denied, and this is its result.
    Closed(NewCard),
}

/// The outcome of the wait for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitOutcome {
    /// The call ended before its deadline.
    Ended {
        /// The continuation that the result asks for.
        after: Option<AfterExecution>,
    },
    /// The deadline has passed. The call may still run.
    TimedOut,
}

/// The delivery of a turn.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewDelivery {
    pub by: TurnEpoch,
    /// The deliverable describes a failure.
    pub is_failure: bool,
    pub deliverable: NewCard,
    /// The fields that the deliverable has.
    pub fields: Vec<String>,
    /// The results of the [unanswered](super::ActiveTurn::unanswered) calls, by index.
    pub results: Vec<(u32, NewCard)>,
    pub now: Millis,
}
