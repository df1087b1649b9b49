//! The protocol of inboxes and leases: one pure function, [`step`], from what is known of a machine
//! and an event to what changes. The backends run it inside their transactions, and the model checker
//! runs the same one.

mod caused;
mod effects;
mod event;
mod fault;
#[cfg(test)]
mod model;
mod state;
mod step;

pub(crate) use caused::{To, caused};
pub(crate) use effects::{Change, Effects, Outcome, Refusal};
pub(crate) use event::{Claim, Event, Fail, Moved, Next, On, Park, Turn};
pub use fault::Cause;
pub(crate) use fault::{Failed, Fault};
pub(crate) use state::{Lease, MessageState, MessageStatus, State, Tries, Work, ended};
#[cfg(test)]
pub(crate) use step::MOST_SELF_SENDS;
pub(crate) use step::step;
