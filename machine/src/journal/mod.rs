//! The append-only journal of a machine. Each entry has a digest that also covers all previous
//! entries.

mod canonical;
mod digest;
mod entry;
mod fact;
mod log;
mod payload;

pub(crate) use canonical::canonical;
pub use digest::Digest;
pub use entry::Entry;
pub use fact::{Due, Evidence, Fact};
pub use log::Journal;
#[doc(hidden)]
pub use log::Pass;
pub use payload::Payload;
