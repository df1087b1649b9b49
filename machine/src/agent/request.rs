use super::{
    AfterExecution, AgentId, CardId, MemberId, NewCard, Task, TurnEnd, TurnEpoch, TurnId, Why,
};
use crate::{Id, clock::Millis};

/// The name of the tool that ends a turn with its result. It is delivered, and never called.
pub const SUBMIT_RESULT: &str = "submit_result";

/// The most calls of a step.
pub const MAX_MEMBERS: u32 = 256;

/// A request to the protocol of turns. All times are inputs, by the clock of the store.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnRequest {
    /// Adds a turn to the queue of its agent. To repeat it changes nothing.
    Enqueue { new: NewTurn, now: Millis },
    /// Adds a turn and dispatches it in the same batch, if the agent is idle. To repeat it changes
    /// nothing.
    UiAction { new: NewTurn, now: Millis },
    /// Makes the oldest queued turn the active one, if the agent is idle.
    Dispatch { agent: AgentId, now: Millis },
    /// A worker begins with a dispatched turn.
    Claim {
        /// The turn, in the epoch of its dispatch.
        by: TurnEpoch,
    },
    /// A worker takes over a turn that another worker has not given back: the epoch rises.
    Reclaim {
        /// The turn, in the epoch that the worker has read.
        by: TurnEpoch,
    },
    /// The model has answered.
    Answered {
        by: TurnEpoch,
        card: NewCard,
        /// Its tokens.
        tokens: u64,
        /// Its price, in millionths of a currency unit.
        money: u64,
    },
    /// The turn makes the calls of the answer, and waits for their results.
    Call {
        by: TurnEpoch,
        /// The calls, in the order of the answer.
        members: Vec<NewMember>,
        now: Millis,
    },
    /// A call has its result.
    Report {
        by: TurnEpoch,
        member: MemberId,
        /// How its wait ended.
        how: WaitEnd,
        card: NewCard,
        now: Millis,
    },
    /// Stops a turn, also in the queue. It delivers with this reason.
    Stop { turn: TurnId, why: Why },
    /// The time limit of a turn has passed.
    Limit { turn: TurnId, now: Millis },
    /// Ends the turn: its deliverable, its event and the idle head are one batch.
    Deliver(NewDelivery),
}

/// A turn that is to be enqueued.
#[allow(missing_docs, reason = "most names of fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewTurn {
    /// The identity, made by the runtime.
    pub id: TurnId,
    pub agent: AgentId,
    pub task: Task,
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NewSource {
    /// An execution.
    Execution(Id),
    /// A turn of another agent, which is enqueued in the same batch.
    Turn(NewTurn),
    /// A message from outside.
    Outside,
}

/// How the wait for a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitEnd {
    /// The call ended before its deadline.
    Ended {
        /// When it ended. For a turn of another agent, its record counts.
        at: Millis,
        /// What the result says about the continuation.
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
    /// How it ends. The reason of a stop comes first.
    pub end: TurnEnd,
    /// The deliverable: a card of this turn in its output box.
    pub deliverable: CardId,
    /// The deliverable, unless the turn has written it before.
    pub card: Option<NewCard>,
    /// The fields that the deliverable has.
    pub fields: Vec<String>,
    /// The results of the calls that are still open, by index.
    pub results: Vec<(u32, NewCard)>,
    pub now: Millis,
}
