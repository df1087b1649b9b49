//! Typed machines: the type encodes the state.

mod deadline;
mod erased;
mod refused;
mod state;
mod unknown_status;

#[doc(hidden)]
pub use deadline::after;
pub use deadline::{Deadline, IntoDeadline};
pub use erased::Erased;
pub use refused::{Illegal, Reason, Refused};
pub use state::{State, Terminal};
pub use unknown_status::UnknownStatus;
