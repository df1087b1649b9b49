//! Calls of the outside world: permits, outcomes, gates, doubt. Its operations are methods of
//! [`Store`](crate::store::Store); only they move an [`Execution`](crate::contract::Execution).
//!
//! | to | see |
//! |---|---|
//! | make a call | [`perform`](crate::store::Store::perform): calls the service and records its answer |
//! | | [`begin`](crate::store::Store::begin), [`settle`](crate::store::Store::settle): the steps around the call |
//! | ask a person | [`ask`](crate::store::Store::ask): stores a call behind its gate |
//! | | [`approve`](crate::store::Store::approve), or `decline`: answers the gate |
//! | recover from a crash | [`recover`](crate::store::Store::recover): finds the calls whose worker has ended |
//! | settle a doubt | [`ask_service`](crate::store::Store::ask_service): asks the service what happened |
//! | | [`confirm_applied`](crate::store::Store::confirm_applied): a person found that it took effect |
//! | receive a report | [`report`](crate::store::Store::report): the outcome of a call that its service accepted |
//! | write several changes in one commit | [`Batch`]: all of them, or none |

mod accepted_call;
mod acknowledge;
pub(crate) mod act;
pub(crate) mod batch;
pub(crate) mod begin;
pub(crate) mod calls;
mod cancel;
mod change;
mod commit;
mod committed;
mod consequences;
pub(crate) mod decide;
pub(crate) mod declared;
mod declined;
pub(crate) mod done;
mod doubt;
pub(crate) mod error;
mod executions;
mod gate_state;
pub(crate) mod gates;
pub(crate) mod identity;
mod integrity;
mod key;
pub(crate) mod leave;
pub(crate) mod perform;
mod permit_check;
mod query;
mod question;
pub(crate) mod recover;
pub(crate) mod report;
mod requirements;
pub(crate) mod resume;
pub(crate) mod retries;
pub(crate) mod retry;
pub(crate) mod settle;
pub(crate) mod spans;
mod superseded;
#[cfg(test)]
mod tests;
mod unproven;

pub use accepted_call::AcceptedCall;
pub use batch::Batch;
pub use change::Change;
pub use done::Done;
pub use error::{EffectError, StateError};
pub(crate) use gates::Standing;
pub use perform::PerformError;
#[cfg(feature = "worker")]
pub(crate) use perform::READ_DELAYS;
pub use recover::Recovered;
pub use report::{ReportError, Reported};
pub use resume::{Resume, ResumeWarning, Resumed};
pub(crate) use unproven::Unproven;
