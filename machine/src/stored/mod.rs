//! Machines as data: their stored form, and the verification that turns data from outside into
//! machines again.

pub(crate) mod compare;
mod context;
mod core;
pub(crate) mod data;
mod durable;
pub(crate) mod entered;
mod history;
mod index;
pub(crate) mod outcomes;
pub(crate) mod rules;
mod session;
pub(crate) mod unread;
mod unverified;
pub(crate) mod unwritten;
mod upgrade;
pub(crate) mod verify;
mod verify_error;

pub use context::{Breach, Context};
// Errors of the compiler name it by this path.
#[doc(hidden)]
pub use core::Core;
pub(crate) use data::read;
#[doc(hidden)]
pub use data::{Data, ReadFromData, Stored};
pub use durable::{Durable, Restore};
pub(crate) use entered::{Entered, EnteredCall, NewCall, Requirement};
pub use history::History;
pub(crate) use history::Newest;
pub(crate) use index::{Approves, CallState, Permitted, ToolUse};
pub use index::{Decision, Hold, Index};
pub(crate) use outcomes::{OutcomeData, OutcomeReader};
pub(crate) use rules::{Rules, fold};
pub(crate) use session::check_session;
pub use session::normal_session;
pub use unread::StoredPart;
pub(crate) use unread::Unread;
pub use unverified::{Record, Unverified};
pub(crate) use unwritten::Unwritten;
#[doc(hidden)]
pub use upgrade::{upgrade, upgrade_from};
pub(crate) use verify::{KnownDefinitions, Verified, Walk, check_id, check_machine, successor};
pub use verify_error::VerifyError;
