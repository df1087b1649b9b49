//! The execution contract: an action, its constraints, its execution, and how it is called and
//! approved.

mod action;
mod call;
mod callback;
#[cfg(feature = "store")]
mod close;
#[allow(clippy::module_inception)]
mod contract;
mod decider;
mod effect;
mod execution_machine;
mod fact;
mod gate;
mod identity;
mod in_doubt;
mod in_flight;
mod invalid;
mod key;
mod outcome;
mod permit;
mod planned;
mod position;
mod progress;
mod question;
#[cfg(feature = "tools")]
mod registry;
mod release;
mod rollback;
mod rules;
mod secret;
mod terms;
mod tool;
mod wording;

pub use action::{Action, ActionType};
pub use call::{Attempt, BoxFuture, Call, Perform, ServiceFn, service_fn};
#[cfg(feature = "store")]
pub use callback::Reporter;
pub use callback::{Accepted, CallbackToken, Report};
#[cfg(feature = "store")]
pub(crate) use close::close;
pub use contract::Contract;
pub use decider::{Decider, Decides, Policy};
pub use effect::{AnswersLater, Effect, EffectType, Idempotent, Irreversible, NeedsNoPermit};
pub use execution_machine::{AnyExecution, Execution, execution};
pub use fact::{CallFact, Evidence, Liveness, Process};
#[cfg(feature = "store")]
pub(crate) use gate::Decided;
pub use gate::{Approval, ApprovalEnd, Decision, Gate, WholeQuestion, decision};
#[doc(hidden)]
pub use identity::{Maker, TypedTool};
pub(crate) use in_doubt::append;
pub(crate) use in_doubt::fork;
pub use in_doubt::{InDoubt, waits_for};
#[cfg(feature = "store")]
pub(crate) use in_doubt::{accept, record};
pub use in_flight::InFlight;
#[cfg(feature = "store")]
pub(crate) use in_flight::{CallHandle, CallRecord, Owner};
pub use invalid::InvalidContract;
pub use key::IdempotencyKey;
#[cfg(feature = "store")]
pub(crate) use outcome::MAX_BYTES;
pub use outcome::{Answer, Applied, LateCall, NotDone, Outcome, Settled, receipt};
#[cfg(feature = "store")]
pub(crate) use outcome::{Answered, bounded};
#[cfg(feature = "store")]
pub(crate) use permit::Lender;
pub use permit::{Permit, Token};
pub use planned::Planned;
pub use position::{GraphPosition, Mismatch};
pub use progress::Progress;
pub use question::Question;
#[cfg(feature = "tools")]
pub use registry::Registry;
pub use release::Release;
pub use rollback::{RollbackPlan, RollbackStep};
#[cfg(feature = "store")]
pub(crate) use rules::settled_at;
pub use secret::Secret;
pub(crate) use secret::hide_in_contract;
pub use tool::{Callable, Repeatable, Tool, ToolSpec};
pub use wording::without_arguments;
#[cfg(feature = "store")]
pub(crate) use wording::{Extent, Wording, question, visible};
