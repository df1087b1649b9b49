//! The execution contract: an action, its constraints, and its execution.

mod action;
#[allow(clippy::module_inception)]
mod contract;
mod effect;
mod execution_machine;
mod fact;
mod in_doubt;
mod invalid;
mod key;
mod permit;
mod progress;
mod tool;

pub use action::{Action, ActionType};
pub use contract::{Contract, defer};
pub use effect::{Answer, Applied, NotDone, Outcome, Settled};
pub use execution_machine::{AnyExecution, Execution, execution};
pub use fact::{CallFact, Evidence};
pub use in_doubt::InDoubt;
#[cfg(feature = "sqlite")]
pub(crate) use in_doubt::record;
pub use invalid::InvalidContract;
pub use key::IdempotencyKey;
#[cfg(feature = "sqlite")]
pub(crate) use permit::AtWork;
pub use permit::{Permit, Token};
pub use progress::Progress;
pub use tool::Tool;
