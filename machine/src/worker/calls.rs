//! The calls of a worker, as separate tasks.

use std::sync::{Mutex, MutexGuard};

use futures_channel::oneshot;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::Failure;
use crate::{contract::Settled, store::lock::lock, telemetry};

/// The calls that a worker has begun. They run to their end, also when the handler that began them
/// is stopped or the worker is dropped, so that their receipts are kept.
#[derive(Default)]
pub(super) struct Calls(Mutex<Tasks>);

/// Tasks that outlive this.
#[derive(Default)]
struct Tasks(JoinSet<()>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.detach_all();
    }
}

/// The report of a call to the handler that began it, and the settlement, which may still await a
/// late answer.
pub(super) struct CallReport<T> {
    pub(super) to_handler: T,
    pub(super) settled: Option<Settled>,
}

impl Calls {
    /// Runs a call as a task, and waits for its report. If this future is dropped, the call runs
    /// on.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        call: impl Future<Output = Result<CallReport<T>, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        let (report, reported) = oneshot::channel();
        let task = async move {
            let (result, settled) = match call.await {
                Ok(CallReport { to_handler, settled }) => (Ok(to_handler), settled),
                Err(failure) => (Err(failure), None),
            };
            // Nothing receives it if the handler was stopped.
            drop(report.send(result));
            let Some(Settled::TimedOut(_, late) | Settled::Fenced(_, late)) = settled else {
                return;
            };
            if let Err(error) = late.await {
                let error = crate::effects::error::class_of(&*error).unwrap_or("_OTHER");
                telemetry::CallLost { error }.emit();
            }
        };
        self.open().0.spawn(task.in_current_span());
        reported.await.unwrap_or_else(|_| Err("the call panicked".into()))
    }

    /// Those that have not ended.
    fn open(&self) -> MutexGuard<'_, Tasks> {
        let mut tasks = lock(&self.0);
        while tasks.0.try_join_next().is_some() {}
        tasks
    }

    pub(super) fn count(&self) -> usize {
        self.open().0.len()
    }

    /// Waits until all of them have ended. New ones are not waited for.
    pub(super) async fn ended(&self) {
        let mut tasks = std::mem::take(&mut *lock(&self.0));
        while tasks.0.join_next().await.is_some() {}
    }
}
