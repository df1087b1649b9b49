use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    clock::{Clock, Millis, later},
    future::BoxFuture,
};

/// The clock of a schedule: the paused time of its runtime, which jumps to the next timer whenever
/// nothing else is to be done.
#[derive(Debug, Clone)]
pub(super) struct VirtualClock {
    started: Instant,
    /// By how much it went back.
    behind: Arc<AtomicI64>,
}

impl VirtualClock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), behind: Arc::default() }
    }

    pub(super) fn go_back(&self, by: Duration) {
        self.behind.fetch_add(later(0, by), Ordering::AcqRel);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Millis {
        later(1_800_000_000_000, self.uptime()) - self.behind.load(Ordering::Acquire)
    }

    fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
