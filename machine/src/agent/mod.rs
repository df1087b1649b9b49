#![doc = include_str!("../docs/agent.md")]

mod activity;
mod agents;
mod decide;
mod driver;
mod error;
mod events;
mod head;
mod head_machine;
mod held;
mod ids;
mod overview;
mod prompt;
mod prune;
mod queue;
mod record;
mod refusal;
mod request;
mod stored;
mod waits;
mod why;
mod work;
mod written;

pub use activity::{Activity, Signalling};
pub use agents::Agents;
pub use decide::{TurnBatch, TurnRows, decide};
pub use driver::{Agent, Driver};
pub use error::AgentError;
pub use events::{AgentEvent, AgentEventKind, AgentEvents, StepPhase};
pub use head::{ActiveTurn, CallSource, Head, Member, Phase};
pub use head_machine::{AgentHead, AnyAgentHead, HeadContext, agent_head};
pub use ids::{AgentId, BoxId, CardId, MemberId, TurnEpoch, TurnId};
pub use overview::{AgentOverview, DeliveredTurn, QueuedTurn, TurnOverview, WaitingCall};
pub use prompt::{Conversation, ConversationError};
pub use prune::PrunedTurns;
pub use record::{
    BoxUse, Card, CardKind, EdgePhase, Limits, MAX_CARD, NewCard, Primitive, Resource, Task,
    TaskEvent, Terms, TurnEdge, TurnRecord, TurnStatus, Usage,
};
pub use refusal::TurnRefusal;
pub use request::{
    MAX_MEMBERS, MAX_NAME, MAX_REJECTED, NewAnswer, NewDelivery, NewMember, NewSource, NewTurn,
    SUBMIT_RESULT, TurnRequest, WaitOutcome,
};
pub use why::{AfterExecution, StopReason, TurnEnd, TurnStop};
pub use work::{AgentCall, CallTarget, Deliverable, ModelAnswer, Work};
