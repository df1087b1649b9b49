//! Typed machines: the state is in the type.

mod erased;
mod refused;
mod state;
mod unknown_status;

pub use erased::Erased;
pub use refused::{Illegal, Reason, Refused};
pub use state::{State, Terminal};
pub use unknown_status::UnknownStatus;
