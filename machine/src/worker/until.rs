use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use event_listener::Event;
use tokio::task::JoinHandle;

use super::WorkerError;
use crate::store::Unavailable;

#[derive(Debug)]
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

    pub(super) async fn wait(&self) {
        loop {
            let event = self.event.listen();
            if self.asked.load(Ordering::Acquire) {
                return;
            }
            event.await;
        }
    }
}

/// Says that a worker has ended, in whatever way.
pub(super) struct Over(pub(super) Arc<Stop>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.ask();
    }
}

/// A worker that runs. Dropping it leaves the worker running until the runtime ends.
#[derive(Debug)]
pub struct Running {
    pub(super) stop: Arc<Stop>,
    pub(super) over: Arc<Stop>,
    pub(super) task: JoinHandle<Result<(), WorkerError>>,
}

impl Running {
    /// Waits until it has ended without being asked, as when it refuses to start, or the store was
    /// closed. Then [`stop`](Self::stop) returns the reason.
    ///
    /// ```
    /// # use machine::{actor::Actors, store::Store, worker::Worker};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// # runtime.block_on(async {
    /// # let signal = std::future::ready(());
    /// let running = Worker::new(&Store::memory(), Actors::issue("worker")?).start();
    /// tokio::select! {
    ///     () = running.ended() => {}
    ///     () = signal => {}
    /// }
    /// running.stop().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })
    /// # }
    /// ```
    pub async fn ended(&self) {
        self.over.wait().await;
    }

    /// Takes no new work, finishes or hands back its current work, and ends.
    ///
    /// # Errors
    ///
    /// See [`Worker::run_until`](super::Worker::run_until).
    pub async fn stop(self) -> Result<(), WorkerError> {
        self.stop.ask();
        // The task itself does not panic, and panics of handlers are caught.
        self.task.await.unwrap_or_else(|_| Err(Unavailable::Stopped.into()))
    }
}
