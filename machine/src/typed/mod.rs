//! Typed machines: the type encodes the state.

mod deadline;
mod erased;
mod refused;
mod single;
mod state;
mod unknown_status;
mod verdict;
mod words;

pub use deadline::{Deadline, IntoDeadline, IntoMoment};
// The compiler names their path in its errors.
#[doc(hidden)]
pub use deadline::{after, at};
pub use erased::Erased;
pub use refused::{Illegal, Reason, Refused};
#[doc(hidden)]
pub use single::Copied;
pub use state::{Narrowed, State, Terminal};
pub use unknown_status::UnknownStatus;
#[doc(hidden)]
pub use verdict::Verdict;
