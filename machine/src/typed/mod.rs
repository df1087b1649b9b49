//! Typed machines: the type encodes the state.

pub(crate) mod deadline;
mod erased;
mod refused;
mod single;
mod state;
mod unknown_status;
mod verdict;
mod words;

pub use deadline::{Deadline, IntoDeadline, IntoMoment};
pub use erased::Erased;
pub use refused::{Illegal, Reason, Refused};
#[doc(hidden)]
pub use single::Copied;
pub use state::{Narrowed, State, Terminal};
pub use unknown_status::UnknownStatus;
#[doc(hidden)]
pub use verdict::Verdict;
