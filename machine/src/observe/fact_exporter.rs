use std::{future::Future, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use async_io::Timer;
use futures_util::{
    FutureExt,
    future::{Either, select},
};

use crate::view::{ExecutionFact, View};
use crate::{
    contract::{AnyExecution, execution::Status},
    journal::Fact,
    store::{Committed, LoadError, Store},
    telemetry,
};

/// Takes facts about executions: a memory, a vector store, a file.
///
/// ```
/// use machine::{view::{ExecutionFact, View}, observe::FactSink};
///
/// struct Printed;
///
/// impl FactSink for Printed {
///     type Error = serde_json::Error;
///
///     async fn remember(&self, fact: View<ExecutionFact>) -> Result<(), serde_json::Error> {
///         println!("{}", serde_json::to_string(&fact)?);
///         Ok(())
///     }
/// }
/// ```
pub trait FactSink: Send + Sync {
    /// Why it cannot take a fact. The fact is not delivered again; that it is lost is counted and
    /// [reported](crate::telemetry), without this error, whose text may repeat the fact.
    type Error: Send;

    /// Takes a fact.
    fn remember(
        &self,
        fact: View<ExecutionFact>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

impl<S: FactSink> FactSink for Arc<S> {
    type Error = S::Error;

    fn remember(
        &self,
        fact: View<ExecutionFact>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        (**self).remember(fact)
    }
}

/// Follows the journal of a store, and hands a sink a fact about each execution that ends.
///
/// *At most once* per execution, across crashes, and with any number of processes that use the same name:
/// before it delivers, it moves a position on that the store keeps under this name. So a fact is lost if
/// the process ends in between, or if the sink fails. The executions are not affected: they never
/// wait for a sink.
///
/// ```no_run
/// use machine::{store::Store, observe::{FactSink, FactExporter}};
///
/// # async fn example(store: &Store, memory: impl FactSink, ctrl_c: impl Future<Output = ()>) -> Result<(), machine::store::LoadError> {
/// let remembered = FactExporter::new(store, "memory", memory).run_until(ctrl_c).await?;
/// println!("{} delivered, {} failed", remembered.delivered, remembered.failed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FactExporter<S> {
    store: Store,
    consumer: String,
    sink: S,
    timeout: Duration,
}

/// The result of [`FactExporter::run_until`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactsExported {
    /// The number of facts that the sink took.
    pub delivered: u64,
    /// The number of facts that the sink failed to take: by an error, a panic, or in time. They are not
    /// delivered again.
    pub failed: u64,
    /// The number of executions that ended and cannot be read.
    pub unreadable: u64,
}

/// The delay before the store is tried again.
const PAUSE: Duration = Duration::from_secs(1);

impl<S: FactSink> FactExporter<S> {
    /// Delivers to this sink, under a name that stays the same from start to start. A new name begins
    /// with the first execution of the store.
    pub fn new(store: &Store, name: impl Into<String>, sink: S) -> Self {
        let timeout = Duration::from_secs(10);
        Self { store: store.clone(), consumer: name.into(), sink, timeout }
    }

    /// Sets how long the sink may take for a fact; by default 10 seconds. Then its future is dropped, and
    /// the fact counts as failed.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs until this future completes. A fact that the sink is taking then is finished.
    ///
    /// # Errors
    ///
    /// [`LoadError::UnknownPosition`] if the store does not have the position: then the file was replaced by
    /// an older copy. [`LoadError::Unavailable`] if the store was closed, or was opened for
    /// reading only. After any other error it tries again.
    pub async fn run_until(
        &self,
        stop: impl Future<Output = ()>,
    ) -> Result<FactsExported, LoadError> {
        let mut done = FactsExported::default();
        let mut stop = pin!(stop);
        loop {
            let error = match self.follow(&mut stop, &mut done).await {
                Ok(Followed::Stopped) => return Ok(done),
                Ok(Followed::Superseded) => continue,
                Err(error) => error,
            };
            match &error {
                LoadError::UnknownPosition { .. } => return Err(error),
                LoadError::Unavailable(gone) if gone.is_stopped() || gone.is_read_only() => {
                    return Err(error);
                }
                _ => telemetry::FactDelayed { error: error.class() }.emit(),
            }
            if let Either::Right(_) = select(pin!(Timer::after(PAUSE)), &mut stop).await {
                return Ok(done);
            }
        }
    }

    /// Delivers what comes after the position of the consumer.
    async fn follow(
        &self,
        stop: &mut (impl Future<Output = ()> + Unpin),
        done: &mut FactsExported,
    ) -> Result<Followed, LoadError> {
        let mut at = self.store.offset(&self.consumer).await?;
        let mut entries = self.store.subscribe(at).await?;
        loop {
            let next = match select(pin!(entries.next()), &mut *stop).await {
                Either::Left((next, _)) => next,
                Either::Right(_) => return Ok(Followed::Stopped),
            };
            let Some(committed) = ends(next)? else { continue };
            let Some(fact) = self.fact(&committed, done).await? else { continue };
            // Advances before the delivery, so that no driver delivers a fact twice.
            if !self.store.advance_offset(&self.consumer, at, committed.position).await? {
                return Ok(Followed::Superseded);
            }
            at = Some(committed.position);
            self.deliver(fact, done).await;
        }
    }

    /// The fact about an entry; `None` if the machine is not an execution, or cannot be read.
    async fn fact(
        &self,
        committed: &Committed,
        done: &mut FactsExported,
    ) -> Result<Option<View<ExecutionFact>>, LoadError> {
        match self.store.load::<AnyExecution>(committed.id).await {
            Ok(execution) => Ok(ExecutionFact::of(&execution)),
            Err(error @ LoadError::Unavailable(_)) => Err(error),
            // Machines of other kinds may have states of the same names.
            Err(error) => {
                let line = self.store.json(committed.id).await;
                let is_other = line.is_ok_and(|line| line["machine"] != "execution");
                if !is_other {
                    done.unreadable += 1;
                    telemetry::FactMissing { error: error.class() }.emit();
                }
                Ok(None)
            }
        }
    }

    /// Whatever the sink does, the next fact is delivered.
    async fn deliver(&self, fact: View<ExecutionFact>, done: &mut FactsExported) {
        let id = fact.execution_id;
        // The call itself may panic, too.
        let taken = async { self.sink.remember(fact).await };
        let taken = pin!(AssertUnwindSafe(taken).catch_unwind());
        let error = match select(taken, pin!(Timer::after(self.timeout))).await {
            Either::Left((Ok(Ok(())), _)) => {
                done.delivered += 1;
                return;
            }
            // Its text is the sink's own, and may repeat the fact.
            Either::Left((Ok(Err(_)), _)) => "_OTHER",
            Either::Left((Err(_), _)) => "panic",
            Either::Right(_) => "timeout",
        };
        done.failed += 1;
        telemetry::FactLost { id: tracing::field::display(id), error }.emit();
    }
}

/// The reason why following the journal ended.
enum Followed {
    Stopped,
    /// Another driver has delivered: the position is elsewhere.
    Superseded,
}

/// The entry, if it may be the end of an execution.
fn ends(next: Result<Committed, LoadError>) -> Result<Option<Committed>, LoadError> {
    let committed = match next {
        Ok(committed) => committed,
        Err(error @ LoadError::BrokenEntry { .. }) => {
            telemetry::FactMissing { error: error.class() }.emit();
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let Fact::Moved { to, .. } = &committed.entry.fact else { return Ok(None) };
    let is_end = to.parse::<Status>().is_ok_and(|status| status.definition().terminal);
    Ok(is_end.then_some(committed))
}
