//! The acts of named people on stored machines. A program's own interface takes this path, as the
//! package `machine-console` does: every act is checked first and leaves a line in the operator log
//! of the store.

mod alternatives;
mod cancel;
mod confirm;
mod decide;
mod error;
mod message;
mod operator;
mod requeue;
mod respond;
mod select;

pub use cancel::{Cancellation, Cancelled};
pub use confirm::Finding;
pub use decide::Decided;
pub use error::{Error, ErrorKind};
use message::Draft;
pub use message::{SendOptions, SentMessage};
pub use operator::Operator;
pub use select::{Selection, Wanted, ended_in};
