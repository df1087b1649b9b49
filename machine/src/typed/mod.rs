//! Typed machines: the state is in the type.

mod refused;
mod state;
mod unknown_status;

pub use refused::{Illegal, Reason, Refused};
pub use state::{State, Terminal};
pub use unknown_status::UnknownStatus;
