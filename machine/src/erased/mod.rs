//! Machines whose state is known only at run time, and the verification of stored data.

mod context;
mod core;
mod durable;
mod unverified;
mod upgrade;
mod verify;

pub use context::{Breach, Context, Permitted, Projection};
#[doc(hidden)]
pub use core::Core;
pub use durable::{Durable, Restore};
pub use unverified::{Record, Unverified};
#[doc(hidden)]
pub use upgrade::{upgrade, upgrade_from};
#[doc(hidden)]
pub use verify::Parts;
pub use verify::{Verified, VerifyError};
