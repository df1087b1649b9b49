use std::time::Duration;

use tokio::time::Instant;

use crate::{
    clock::{Clock, Millis},
    future::BoxFuture,
};

/// The clock of a schedule: the paused time of its runtime, which jumps to the next timer whenever
/// nothing else is to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct VirtualClock(Instant);

impl VirtualClock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Millis {
        1_800_000_000_000 + Millis::try_from(self.uptime().as_millis()).unwrap_or(0)
    }

    fn uptime(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
