//! What happened to one machine, in order. Each entry has a digest that covers those before it.

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
