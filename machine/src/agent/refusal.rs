use super::{
    AgentId, BoxId, CardId, MAX_CARD, MAX_MEMBERS, MAX_NAME, MAX_REJECTED, MemberId, Phase,
    StopReason, TurnEnd, TurnId,
};
use crate::id::shortened;

/// A request to the protocol of turns is refused. Nothing was changed.
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
    TurnIdConflict { turn: TurnId },
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
    StaleEpoch { turn: TurnId, epoch: u64, current: u64 },
    /// No later epoch can be counted.
    #[error("epoch {epoch} has no successor; the head is damaged")]
    NoEpoch { epoch: u64 },
    /// The turn is in another state.
    #[error("turn {turn} is {phase}, which does not allow this; read the head again")]
    WrongPhase { turn: TurnId, phase: Phase },
    /// The turn is stopped.
    #[error("turn {turn} is stopped: {why}; deliver it")]
    Stopped { turn: TurnId, why: StopReason },
    /// A call has ended the work of the turn.
    #[error("a call of turn {turn} has said that it is the last one; deliver the turn")]
    MustDeliver { turn: TurnId },
    /// The model has answered in this step.
    #[error("card {card} is the answer of this step; continue with it")]
    Answered { card: CardId },
    /// The model has not answered in this step.
    #[error("step {step} has no answer; write it before its calls")]
    NotAnswered { step: u32 },
    /// The answer has too many calls.
    #[error("an answer has at most {MAX_MEMBERS} calls, not {count}; deliver a failure")]
    TooManyCalls { count: u32 },
    /// The request does not have the calls of the answer.
    #[error("the answer has {calls} calls, not {count}; make or close each of them")]
    CallCount { count: u32, calls: u32 },
    /// Two calls have the same provider id.
    #[error("call `{}` repeats another one of its step; close it", shortened(call_id))]
    RepeatedCall { call_id: String },
    /// The name of a tool, or a provider id, is empty or too long.
    #[error("the tool and the id of call {member} have 1 to {MAX_NAME} bytes; close it")]
    BadName { member: MemberId },
    /// `submit_result` is called.
    #[error("`submit_result` ends the turn, so no other call is made with it; call it alone")]
    SubmitResult,
    /// The model has been told often enough why its result, or each of its calls, is refused.
    #[error("turn {turn} has rejected {MAX_REJECTED} answers in a row; deliver a failure")]
    Rejected { turn: TurnId },
    /// A call delegates to the own agent, which cannot run it before this turn ends.
    #[error("call {member} delegates to its own agent; choose another agent, or close it")]
    OwnAgent { member: MemberId },
    /// A call delegates without a deadline: agents could wait for each other for ever.
    #[error("call {member} delegates without a deadline; set one, or close it")]
    NoDeadline { member: MemberId },
    /// The turn has made no such call, or none that is answered from outside.
    #[error("no call {member} takes this result; report a call of the waiting set")]
    UnknownCall { member: MemberId },
    /// The call has its result.
    #[error("call {member} has its result; acknowledge this one")]
    FinishedCall { member: MemberId },
    /// The call has not ended, or its deadline and its end, whichever was first, say otherwise.
    #[error("call {member} does not have this outcome; read its end again, or wait for it")]
    WrongOutcome { member: MemberId },
    /// A call without a result has none in the delivery.
    #[error("call {member} has no result; deliver one for each call without one")]
    OpenCall { member: MemberId },
    /// The box is the input of its own turn.
    #[error("box {box_id} is both input and output; use another output box")]
    SameBox { box_id: BoxId },
    /// Live turns of another agent write to the box.
    #[error("turns of `{agent}` write to box {box_id}; fork it")]
    BoxTaken { box_id: BoxId, agent: AgentId },
    /// Another card has the id.
    #[error("card {card} is there already; use a fresh id")]
    DuplicateCard { card: CardId },
    /// The body of the card is too large.
    #[error("card {card} has {size} bytes, more than {MAX_CARD}; store it elsewhere")]
    TooLarge { card: CardId, size: u64 },
    /// Fields of the result are missing.
    #[error("the deliverable lacks `{}`; add what is missing", fields.join("`, `"))]
    MissingFields { fields: Vec<String> },
}
