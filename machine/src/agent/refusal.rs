use super::{
    AgentId, BoxId, CardId, MAX_CARD, MAX_MEMBERS, Measure, MemberId, Phase, TurnEnd, TurnId, Why,
};
use crate::{clock::Millis, id::shortened};

/// Why a request to the protocol of turns is refused. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum TurnRefusal {
    /// There is no such agent.
    #[error("there is no agent `{agent}`; create it before its first turn")]
    UnknownAgent { agent: AgentId },
    /// There is no such turn.
    #[error("there is no turn {turn}; pass the id that its enqueueing returned")]
    UnknownTurn { turn: TurnId },
    /// The id of the turn belongs to another one.
    #[error("turn {turn} is known with another task; use a fresh id")]
    OtherTurn { turn: TurnId },
    /// The agent has an active turn.
    #[error("the agent has turn {turn}; enqueue, or try again when that is delivered")]
    Busy { turn: TurnId },
    /// The agent has no queued turn.
    #[error("no turn of `{agent}` is queued; enqueue one")]
    NothingQueued { agent: AgentId },
    /// The turn is queued, or belongs to another agent.
    #[error("turn {turn} is not the active turn of the agent; read the head again")]
    NotActive { turn: TurnId },
    /// The turn has ended.
    #[error("turn {turn} has ended ({end}); card {deliverable} is its deliverable")]
    Ended { turn: TurnId, end: TurnEnd, deliverable: CardId },
    /// Another worker has taken over the turn.
    #[error("turn {turn} is in epoch {current}, not {epoch}; stop, another worker has it")]
    OtherEpoch { turn: TurnId, epoch: u64, current: u64 },
    /// No later epoch can be counted.
    #[error("epoch {epoch} has no successor; the head is damaged")]
    NoEpoch { epoch: u64 },
    /// The turn is in another state.
    #[error("turn {turn} is {phase}, which does not allow this; read the head again")]
    OtherPhase { turn: TurnId, phase: Phase },
    /// The turn is stopped.
    #[error("turn {turn} is stopped: {why}; deliver it")]
    Stopped { turn: TurnId, why: Why },
    /// A call has ended the work of the turn.
    #[error("a call of turn {turn} has said that it is the last one; deliver the turn")]
    MustDeliver { turn: TurnId },
    /// The turn has not reached its time limit, or has none.
    #[error("the time limit of turn {turn} has not passed; try again later")]
    NotDue { turn: TurnId },
    /// The model has answered in this step.
    #[error("card {card} is the answer of this step; continue with it")]
    Answered { card: CardId },
    /// The model has not answered in this step.
    #[error("step {step} has no answer; write it before its calls")]
    NotAnswered { step: u32 },
    /// There are no calls, or too many.
    #[error("a step has 1 to {MAX_MEMBERS} calls, not {count}; deliver, or split them")]
    CallCount { count: u32 },
    /// Two calls have the same provider id, or the same execution.
    #[error("call `{}` repeats another one of its step; ask the model again", shortened(call_id))]
    RepeatedCall { call_id: String },
    /// `submit_result` is called.
    #[error("`submit_result` is the only call of its step; deliver its arguments")]
    SubmitResult,
    /// The calls would exceed a limit.
    #[error("the calls exceed the limit of {0}; deliver with this reason")]
    Limit(Measure),
    /// A call delegates to the own agent, or without a deadline: the turn could wait for ever.
    #[error("call {member} delegates to its own agent, or has no deadline; change that")]
    EndlessWait { member: MemberId },
    /// The call is of another turn.
    #[error("call {member} is of another turn; report it there")]
    ForeignCall { member: MemberId },
    /// The turn has made no such call.
    #[error("the turn has made no call {member}; report a call of its waiting set")]
    UnknownCall { member: MemberId },
    /// The call has its result.
    #[error("call {member} has its result; acknowledge this one")]
    FinishedCall { member: MemberId },
    /// The call ended too late.
    #[error("call {member} was due at {deadline}; report that it timed out")]
    Overdue { member: MemberId, deadline: Millis },
    /// The deadline of the call has not passed, or the call ended before it.
    #[error("call {member} is not overdue; report its result, or wait for it")]
    NotOverdue { member: MemberId },
    /// The turn that the call waits for has not ended.
    #[error("call {member} waits for turn {turn}, which has not ended; wait for it")]
    NotEnded { member: MemberId, turn: TurnId },
    /// An open call has no result in the delivery.
    #[error("call {member} has no result; deliver one for each open call")]
    OpenCall { member: MemberId },
    /// The box is the input of its own turn.
    #[error("box {box_id} is both input and output; use another output box")]
    SameBox { box_id: BoxId },
    /// Live turns of another agent write to the box.
    #[error("turns of `{agent}` write to box {box_id}; fork it")]
    BoxTaken { box_id: BoxId, agent: AgentId },
    /// Another card has the id.
    #[error("card {card} is there already; use a fresh id")]
    CardKnown { card: CardId },
    /// The body of the card is too large.
    #[error("card {card} has {size} bytes, more than {MAX_CARD}; store it elsewhere")]
    TooLarge { card: CardId, size: u64 },
    /// The card is not a deliverable of this turn in its output box.
    #[error("card {card} is not a `task.deliverable` of this turn in its output box; write one")]
    NotADeliverable { card: CardId },
    /// Fields of the result are missing.
    #[error("the deliverable lacks `{}`; ask the model for them", fields.join("`, `"))]
    MissingFields { fields: Vec<String> },
}
