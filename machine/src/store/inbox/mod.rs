//! Messages to machines, leases, and who drives what.

pub(crate) mod crew;
pub(crate) mod lease;
pub(crate) mod limits;
pub(crate) mod message;
pub(crate) mod outcome;
pub(crate) mod protocol;
pub(crate) mod send;
pub(crate) mod sent;
