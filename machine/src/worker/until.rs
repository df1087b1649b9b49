use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use event_listener::Event;

/// How long a worker runs.
pub(super) enum Until {
    Stopped(Arc<Stop>),
    Idle,
}

impl Until {
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Stopped(stop) => stop.asked.load(Ordering::Acquire),
            Self::Idle => false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Stop {
    asked: AtomicBool,
    event: Event,
}

impl Stop {
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        self.event.notify(usize::MAX);
    }

    pub(super) async fn asked(&self) {
        loop {
            let event = self.event.listen();
            if self.asked.load(Ordering::Acquire) {
                return;
            }
            event.await;
        }
    }
}
