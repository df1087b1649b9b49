use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use event_listener::Event;
use tokio::task::JoinHandle;

use crate::store::{CommitError, Unavailable};

/// The condition on which a worker stops.
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

/// A worker that runs. Dropping it leaves the worker running until the runtime ends.
#[derive(Debug)]
pub struct Running {
    pub(super) stop: Arc<Stop>,
    pub(super) task: JoinHandle<Result<(), CommitError>>,
}

impl Running {
    /// Takes nothing new, finishes what was begun or hands it back, and ends.
    ///
    /// # Errors
    ///
    /// See [`Worker::run_until`](super::Worker::run_until).
    pub async fn stop(self) -> Result<(), CommitError> {
        self.stop.ask();
        // The task itself does not panic, and panics of handlers are caught.
        self.task.await.unwrap_or_else(|_| Err(Unavailable::stopped().into()))
    }
}
