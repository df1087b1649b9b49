//! The declaration as it is written. Names are not resolved yet.

mod branch;
mod declaration;
mod invoke;
mod keys;
mod marks;
mod options;
pub(crate) mod serde;
mod shared;
mod state;
mod transition;

pub(crate) use branch::{Arm, Branch, Target};
pub(crate) use declaration::{Declaration, declaration};
pub(crate) use invoke::{Approve, Invoke};
pub(crate) use marks::{Audience, Upgrade};
pub(crate) use options::Options;
pub(crate) use shared::{Shared, are_known};
pub(crate) use state::{Field, Optional, State};
pub(crate) use transition::{Guard, ItemKind, Transition};
