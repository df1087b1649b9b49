//! The limits of the inbox of one machine.

/// With as many queued messages, an inbox takes no more from programs and people. What the library
/// itself sends is always taken.
pub(crate) const MAX_QUEUED: u32 = 10_000;

/// With more than this, a machine needs attention. An index of the file has the same number.
pub(crate) const MANY_QUEUED: u32 = 1_000;
