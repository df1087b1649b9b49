use std::{fmt, time::Duration};

/// The work that a worker waits for when it was asked to stop; see
/// [`Worker::on_stop`](super::Worker::on_stop).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopping {
    /// The number of machines that it is driving.
    pub machines: usize,
    /// The number of calls of tools that have not ended. One whose answer a machine waits for
    /// belongs to a machine that is driven, too.
    pub calls: usize,
    /// The longest that it waits: the time of [grace](super::Worker::grace).
    pub grace: Duration,
}

impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machines, calls, grace } = *self;
        let (what, count) = if calls > 0 { ("call", calls) } else { ("machine", machines) };
        let s = if count == 1 { "" } else { "s" };
        write!(f, "stopping: waiting up to {grace:?} for {count} {what}{s} to finish")
    }
}
