//! Calls of the outside world: permits, outcomes, gates, doubt. Its operations are methods of
//! [`Store`](crate::store::Store); only they move an [`Execution`](crate::contract::Execution).

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

pub use accepted_call::AcceptedCall;
pub use batch::Batch;
pub use begin::{Begin, Begun};
pub use decide::Decide;
pub use done::Done;
pub use error::{EffectError, StateError};
pub(crate) use gates::Standing;
pub use perform::{PerformError, Performing, ReadBackoff};
pub use recover::Recovered;
pub use report::{ReportError, Reported};
pub use resume::{Resume, ResumeWarning, Resumed};
pub use settle::Settle;
