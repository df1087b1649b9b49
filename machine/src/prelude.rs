//! The names that a program with a workflow uses most. Each feature adds its own.
//!
//! | to | see |
//! |---|---|
//! | declare a workflow | [`machine`](macro@machine): turns an enum into typed states |
//! | | [`Actors`]: the actors of a program |
//! | | [`ReasoningNode`]: the actor for what an agent decides |
//! | declare a call | [`Tool`](trait@Tool): its arguments, effect, receipt and refusal, as a type |
//! | | [`Perform`]: its service |
//! | | [`Attempt`]: a call in doubt, about which a worker asks its service |
//! | | [`CallError`]: why there is no receipt |
//! | store machines | [`Store`]: in memory, or in a file |
//! | | [`Message`]: an event for a stored machine |
//! | run them | [`Worker`]: takes handlers and services |
//! | | [`Task`]: the context of a handler |
//! | | [`Next`]: the result of a handler |
//!
//! ```
//! use machine::prelude::*;
//!
//! /// A door.
//! #[machine]
//! #[derive(Debug)]
//! pub enum Door {
//!     #[initial]
//!     #[on(close => Closed, by = Human)]
//!     Open,
//!     #[terminal]
//!     Closed,
//! }
//! # fn main() {}
//! ```
//!
//! A name that the program declares or imports itself hides the one here.

#[doc(no_inline)]
pub use machine_derive::machine;

#[doc(no_inline)]
pub use crate::actor::{Actors, GraphRunner, Human, ReasoningNode};

#[cfg(feature = "durable")]
#[doc(no_inline)]
pub use crate::{
    Id,
    contract::{
        Answer, Applied, Attempt, Call, CallError, NoReceipt, OrRefused, Outcome, Perform, Tool,
    },
};

#[cfg(feature = "store")]
#[doc(no_inline)]
pub use crate::store::{Message, Query, Store};

#[cfg(feature = "worker")]
#[doc(no_inline)]
pub use crate::worker::{Failure, Handled, Next, Task, Worker};
