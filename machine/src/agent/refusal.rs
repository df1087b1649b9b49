use super::{
    AgentId, BoxId, CardId, MAX_CARD, MAX_MEMBERS, MAX_NAME, MAX_REJECTED, MemberId, Phase,
    StopReason, TurnEnd, TurnId,
};
use crate::id::shortened;

/// A request to the protocol of turns is refused. Nothing was changed. The text says why, and what
/// to do.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum TurnRefusal {
    #[error("there is no agent `{agent}`; create it before its first turn")]
    UnknownAgent { agent: AgentId },
    #[error("there is no turn {turn}; pass the id that its enqueueing returned")]
    UnknownTurn { turn: TurnId },
    #[error("turn {turn} is known with another task; use a fresh id")]
    TurnIdConflict { turn: TurnId },
    #[error("the agent has turn {turn}; enqueue, or try again when that is delivered")]
    Busy { turn: TurnId },
    /// The turn is queued, or belongs to another agent.
    #[error("turn {turn} is not the active turn of the agent; read the head again")]
    NotActive { turn: TurnId },
    #[error("turn {turn} has ended ({end}); card {deliverable} is its deliverable")]
    Ended { turn: TurnId, end: TurnEnd, deliverable: CardId },
    #[error("turn {turn} is in epoch {current}, not {epoch}; stop, another worker has it")]
    StaleEpoch { turn: TurnId, epoch: u64, current: u64 },
    #[error("epoch {epoch} has no successor; the head is damaged")]
    NoEpoch { epoch: u64 },
    #[error("turn {turn} is {phase}, which does not allow this; read the head again")]
    WrongPhase { turn: TurnId, phase: Phase },
    #[error("turn {turn} is stopped: {why}; deliver it")]
    Stopped { turn: TurnId, why: StopReason },
    #[error("a call of turn {turn} has said that it is the last one; deliver the turn")]
    MustDeliver { turn: TurnId },
    #[error("an answer has at most {MAX_MEMBERS} calls, not {count}; deliver a failure")]
    TooManyCalls { count: u32 },
    #[error("the answer has {calls} calls, not {count}; make or close each of them")]
    CallCount { count: u32, calls: u32 },
    #[error("call `{}` repeats another one of its step; close it", shortened(call_id))]
    RepeatedCall { call_id: String },
    #[error("the tool and the id of call {member} have 1 to {MAX_NAME} bytes; close it")]
    BadName { member: MemberId },
    #[error("`submit_result` ends the turn, so no other call is made with it; call it alone")]
    SubmitResult,
    #[error("turn {turn} has rejected {MAX_REJECTED} answers in a row; deliver a failure")]
    Rejected { turn: TurnId },
    /// An agent cannot delegate to itself: the delegated turn could not run before this turn ends.
    #[error("call {member} delegates to its own agent; choose another agent, or close it")]
    OwnAgent { member: MemberId },
    /// Without a deadline, agents could wait for each other forever.
    #[error("call {member} delegates without a deadline; set one, or close it")]
    NoDeadline { member: MemberId },
    /// The turn has made no such call, or none that is answered from outside.
    #[error("no call {member} takes this result; report a call of the waiting set")]
    UnknownCall { member: MemberId },
    #[error("call {member} has its result; acknowledge this one")]
    FinishedCall { member: MemberId },
    /// The call has not ended, or its deadline or its end, whichever came first, says otherwise.
    #[error("call {member} does not have this outcome; read its end again, or wait for it")]
    WrongOutcome { member: MemberId },
    #[error("call {member} has no result; deliver one for each call without one")]
    OpenCall { member: MemberId },
    #[error("box {box_id} is both input and output; use another output box")]
    SameBox { box_id: BoxId },
    #[error("turns of `{agent}` write to box {box_id}; fork it")]
    BoxTaken { box_id: BoxId, agent: AgentId },
    #[error("box {box_id} has fewer than {cards} cards; enqueue the turn when it has them")]
    MissingCards { box_id: BoxId, cards: u64 },
    #[error("card {card} has {size} bytes, more than {MAX_CARD}; store it elsewhere")]
    TooLarge { card: CardId, size: u64 },
    #[error("the deliverable lacks `{}`; add these fields", fields.join("`, `"))]
    MissingFields { fields: Vec<String> },
}
