//! The append-only journal of a machine. Each entry has a digest that also covers all previous
//! entries.

mod canonical;
mod digest;
mod entry;
mod fact;
mod line;
pub(crate) mod log;
pub(crate) mod payload;
mod portable;
mod summary;
mod written;

#[cfg(feature = "agent")]
pub(crate) use canonical::is_too_deep;
pub(crate) use canonical::{
    canonical, canonical_object, canonical_whole, canonical_whole_object, depth_of_object,
    make_plain,
};
pub use digest::Digest;
pub(crate) use digest::DigestKey;
pub use entry::Entry;
pub use fact::{Due, Fact};
pub(crate) use line::{EntryKind, Line, LineRef};
pub use log::Journal;
pub(crate) use log::{Fixed, Pass, StoredState};
pub(crate) use payload::Payload;
pub(crate) use portable::{Unportable, check_object, check_text, check_written};
pub use summary::Summary;
pub(crate) use summary::is_default;
pub(crate) use written::{TextError, write_text};
