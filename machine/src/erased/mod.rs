//! Machines whose state is known at run time only, and the border that data cross to become one.

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
pub use upgrade::upgrade;
#[doc(hidden)]
pub use verify::Parts;
pub use verify::{Verified, VerifyError};
