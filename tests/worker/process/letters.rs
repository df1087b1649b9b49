//! A machine that waits for a person between two states with handlers, and one without a handler.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use machine::{
    actor::{GraphRunner, Human},
    machine,
};
use serde::{Deserialize, Serialize};

/// A letter of an office.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Letter {
    #[initial]
    #[on(write => Written, by = GraphRunner)]
    Blank,
    #[stable]
    #[on(sign => Signed, by = Human, guard = has_ink -> NoInk)]
    Written,
    #[on(copy => Copied, by = GraphRunner)]
    Signed,
    // Slips are kept when their letter is filed.
    #[on(file => Filed, by = GraphRunner, detach)]
    Copied,
    #[terminal]
    Filed,
}

/// The guard of the next signature is a place where this process is frozen.
pub(super) static FREEZES: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
pub(crate) struct NoInk;

impl fmt::Display for NoInk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pen has no ink")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
#[allow(clippy::unnecessary_wraps, reason = "a guard gives a result")]
fn has_ink(_: &letter::Written) -> Result<(), NoInk> {
    if FREEZES.swap(false, Ordering::SeqCst) {
        super::clerk::freeze_here();
    }
    Ok(())
}

/// A note that says who wrote it. No worker has a handler for it.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Slip {
    #[initial]
    #[on(tear => Torn, by = GraphRunner)]
    Kept { by: String },
    #[terminal]
    Torn,
}
