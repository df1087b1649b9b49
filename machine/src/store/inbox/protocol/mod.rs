//! The protocol of inboxes and leases: one pure function, [`step`], from what is known of a machine
//! and an event to what changes. The backends run it inside their transactions, and the model
//! checker runs the same one.

mod attempts;
mod caused;
#[cfg(feature = "worker")]
mod earliest;
mod effects;
mod event;
mod fault;
#[cfg(test)]
mod model;
mod news;
mod state;
mod step;
#[cfg(test)]
mod tests;

use super::message::Delivery;

pub(crate) use caused::{To, caused};
#[cfg(feature = "worker")]
pub(crate) use earliest::{Pending, Turn, earliest};
pub(crate) use effects::{Effects, EventOutcome, EventRefusal, WorkChange};
pub(crate) use event::{AfterMove, Attempted, Claim, Event, Fail, Moved, MovedBy, Switch, Wait};
pub use fault::Cause;
pub(crate) use fault::{Fault, LastFailure};
pub(crate) use state::{InboxState, Lease, MessageState, Schedule, Tries, Wake, ended};
#[cfg(test)]
pub(crate) use step::MAX_SELF_SENDS;
pub(crate) use step::step;
