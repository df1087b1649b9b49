//! Machines as data: what a store keeps of them, and how data from outside become machines again.

mod context;
mod core;
mod data;
mod durable;
mod history;
mod index;
mod rules;
mod unread;
mod unverified;
mod upgrade;
mod verify;

pub use context::{Breach, Context};
#[doc(hidden)]
pub use core::Core;
#[doc(hidden)]
pub use data::{Data, ReadFromData, Stored, read};
pub use durable::{Durable, Restore};
pub use history::History;
pub(crate) use history::Newest;
pub(crate) use index::{Approves, ToolUse};
pub use index::{Hold, Index, Permitted};
#[cfg(feature = "store")]
pub(crate) use rules::fold;
#[cfg(feature = "store")]
pub(crate) use rules::fold_some;
#[doc(hidden)]
pub use rules::{Folded, Rules};
pub use unread::Part;
#[doc(hidden)]
pub use unread::Unread;
pub use unverified::{Record, Unverified};
#[doc(hidden)]
pub use upgrade::{upgrade, upgrade_from};
#[doc(hidden)]
pub use verify::Parts;
#[cfg(feature = "store")]
pub(crate) use verify::{Known, Walk, check_id, check_machine, successor};
pub use verify::{Verified, VerifyError};
