use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use event_listener::Event;
use futures_util::future::{Either, select};
use tokio::task::JoinHandle;

use super::{Worker, WorkerError};
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
struct Over(Arc<Stop>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.ask();
    }
}

/// A worker that runs. Dropping it leaves the worker running until the runtime ends.
#[derive(Debug)]
pub struct Running {
    stop: Arc<Stop>,
    over: Arc<Stop>,
    task: JoinHandle<Result<(), WorkerError>>,
}

impl Worker {
    /// Starts the worker as a task of the current tokio runtime. If it refuses to start,
    /// [`Running::ended`] completes, and [`Running::stop`] returns the error.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use = "dropping it leaves the worker running"]
    pub fn start(self) -> Running {
        let (stop, over) = (Arc::new(Stop::default()), Arc::new(Stop::default()));
        let run = self.run(Until::Stopped(Arc::clone(&stop)));
        let guard = Over(Arc::clone(&over));
        let task = tokio::spawn(async move {
            let ended = run.await;
            drop(guard);
            ended
        });
        Running { stop, over, task }
    }

    /// Runs until this future completes. Then it takes no new work, begins no call, and finishes
    /// its current work or hands it back. If the returned future is dropped before then, the leases
    /// expire, and the calls continue as tasks of the runtime.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Unavailable`] if the store is closed or cannot be written at the start,
    /// [`WorkerError::Incompatible`] if the worker cannot read stored machines or arguments,
    /// [`WorkerError::Effect`] if the keys of a tool differ from the stored ones, and
    /// [`WorkerError::Lock`].
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send) -> Result<(), WorkerError> {
        let asked = Arc::new(Stop::default());
        let run = Box::pin(self.run(Until::Stopped(Arc::clone(&asked))));
        match select(run, Box::pin(stop)).await {
            Either::Left((ended, _)) => ended,
            Either::Right(((), run)) => {
                asked.ask();
                run.await
            }
        }
    }

    /// Runs until nothing is ready. Before it ends, it retries failed writes, and work that it
    /// stopped because its lease ran out. Work that waits for a message, a deadline, another
    /// attempt, a held key, or a call of another worker is left for later. If no live worker has
    /// the tool of a call, because a [`tool`](Self::tool) was forgotten or its program is not
    /// running, [`on_error`](Self::on_error) and a warning of `tracing` report it.
    ///
    /// # Errors
    ///
    /// See [`run_until`](Self::run_until).
    pub async fn run_until_idle(self) -> Result<(), WorkerError> {
        self.run(Until::Idle).await
    }
}

impl Running {
    /// Waits until the worker ends without a request to stop, for example because it refuses to
    /// start, or the store was closed. [`stop`](Self::stop) then returns the reason.
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
