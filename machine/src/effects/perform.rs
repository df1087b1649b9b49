use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use backon::{BackoffBuilder, Retryable};
use tracing::field::display;

use crate::{
    actor::ToolNode,
    actor::who::who,
    clock::Clock,
    contract::{
        Attempt, CallHandle, Callable, Evidence, Execution, Perform, Permit, Planned, Progress,
        Repeatable, Settled, Unsettled, append, execution::Running,
    },
    effects::{begin::Begun, error::EffectError, spans},
    future::BoxFuture,
    journal::{Fact, Pass},
    process::Liveness,
    store::handle::Store,
    stored::Durable,
    telemetry,
    typed::Refused,
};

impl Store {
    /// Runs a planned execution from its start to its end: begins it, which takes the key of an
    /// irreversible action; lets the service perform the call under the permit; and settles the
    /// outcome.
    ///
    /// An irreversible action runs at most once, and ends COMPLETED, FAILED or in doubt, or waits
    /// for the [report](Self::report) of its service. An idempotent one runs at least once; if its
    /// process ends, [`recover`](Self::recover) finds it interrupted.
    ///
    /// # Errors
    ///
    /// [`PerformError::NotBegun`] with the execution, if it was not begun: nothing was called.
    /// [`PerformError::NotSettled`] with the outcome, if it is not on disk: settle it again.
    ///
    /// ```
    /// use machine::actor::Actors;
    /// use machine::contract::{
    ///     Answer, Applied, Call, Contract, Irreversible, Perform, Planned, Settled, Tool,
    /// };
    /// use machine::store::Store;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, Serialize, Deserialize)]
    /// struct Deploy {
    ///     version: u32,
    /// }
    ///
    /// impl Tool for Deploy {
    ///     const SERVICE: &'static str = "cluster";
    ///     const METHOD: &'static str = "deploy";
    ///     type Effect = Irreversible;
    ///     type Receipt = String;
    ///     type Refusal = String;
    /// }
    ///
    /// struct Cluster;
    ///
    /// impl Perform<Deploy> for Cluster {
    ///     async fn perform(&self, call: &Call<Deploy>) -> Answer {
    ///         Ok(Applied::new(format!("version {} is live", call.arguments.version)))
    ///     }
    /// }
    ///
    /// # pollster::block_on(async {
    /// let actors = Actors::issue("release")?;
    /// let store = Store::memory();
    /// let contract = Contract::of(&Deploy { version: 17 }, &actors.reasoning_node)?;
    /// let mut deploy: Planned<Deploy> = Planned::new(contract)?;
    /// store.plan(&mut deploy).await?;
    ///
    /// match store.perform(deploy, Cluster, &actors.tool_node).await? {
    ///     Settled::Completed(done) => assert_eq!(done.state().result, "version 17 is live"),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn perform<'a, T: Callable>(
        &'a self,
        planned: impl Into<Planned<T>>,
        service: impl Perform<T> + 'static,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        let planned = planned.into();
        Box::pin(async move {
            let (span, service) = spans::call(planned.execution(), false, service);
            let performed = async {
                let (running, permit) = self.begun(planned, &service, by).await?;
                let outcome = permit.call(service).await;
                self.end(running, outcome, by).await
            };
            spans::record_call(span, performed).await
        })
    }

    async fn begun<T: Callable>(
        &self,
        planned: Planned<T>,
        service: &impl Perform<T>,
        by: &ToolNode,
    ) -> Result<Begun<T>, PerformError<T>> {
        let (id, checked) = (planned.id(), service.check_call(planned.execution().context()));
        let begun = match checked {
            Ok(()) => self.begin(planned, by).await,
            Err(source) => Err(Refused::new(planned, EffectError::Contract { id, source })),
        };
        begun.map_err(|refused| PerformError::NotBegun {
            planned: Box::new(refused.machine),
            source: refused.reason,
        })
    }

    /// Like [`perform`](Self::perform), with retries, for a tool that needs no permit: if the
    /// service gives no receipt, it is called again after each of these delays. See
    /// [`ReadBackoff`].
    ///
    /// # Errors
    ///
    /// The errors of [`perform`](Self::perform).
    pub fn perform_with_retries<'a, T: Repeatable>(
        &'a self,
        planned: impl Into<Planned<T>>,
        service: impl Perform<T> + 'static,
        delays: impl BackoffBuilder + 'a,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        let planned = planned.into();
        Box::pin(async move {
            let (span, service) = spans::call(planned.execution(), false, service);
            let performed = async {
                let (running, permit) = self.begun(planned, &service, by).await?;
                let outcome = if running.context().is_irreversible() {
                    // A hint raised the risk of this call.
                    permit.call(service).await
                } else {
                    self.repeatedly(&running, permit, Arc::new(service), delays).await
                };
                self.end(running, outcome, by).await
            };
            spans::record_call(span, performed).await
        })
    }

    /// Calls until there is a receipt, or no delay is left. Returns the last outcome.
    async fn repeatedly<T: Callable>(
        &self,
        running: &Execution<Running>,
        permit: Permit<T>,
        service: Arc<impl Perform<T> + 'static>,
        delays: impl BackoffBuilder,
    ) -> Unsettled {
        // Between two calls it is alive, too.
        let handle = permit.handle();
        let mut first = Some(permit);
        let call = || {
            let another = || Self::another::<T>(running, handle.clone());
            let permit = first.take().map_or_else(another, Ok);
            let service = Arc::clone(&service);
            async move {
                let outcome = match permit {
                    Ok(permit) => permit.call(service).await,
                    Err(outcome) => *outcome,
                };
                match outcome.evidence() {
                    Evidence::Applied(_) => Ok(outcome),
                    Evidence::NotApplied(_) | Evidence::Unknown(_) => Err(outcome),
                }
            }
        };
        let (id, mut attempt) = (display(running.id()), 0);
        let notify = |outcome: &Unsettled, delay: Duration| {
            attempt += 1;
            let evidence = spans::class_of(outcome.evidence());
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            telemetry::CallRetried { id: id.clone(), attempt, evidence, delay_ms }.emit();
        };
        let sleeper = Sleeper(Arc::clone(&self.inner.clock));
        match call.retry(delays).sleep(sleeper).notify(notify).await {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    /// Another permit for the same idempotent execution.
    fn another<T: Callable>(
        running: &Execution<Running>,
        handle: CallHandle,
    ) -> Result<Permit<T>, Box<Unsettled>> {
        let contract = running.context();
        let arguments = match contract.arguments_to_run() {
            Ok(arguments) => arguments,
            Err(error) => {
                let evidence = Evidence::NotApplied(error.to_string().into());
                let (accepted, late) = (None, Mutex::default());
                let refused = Unsettled { evidence, accepted, late, handle, _open: None };
                return Err(Box::new(refused));
            }
        };
        let attempt = Attempt::new(arguments, running.id(), contract);
        Ok(Permit::new(attempt, None, contract.timeout(), None, handle))
    }

    /// Runs an idempotent call again whose worker ended, or whose timeout has passed. The old
    /// worker is fenced first.
    ///
    /// # Errors
    ///
    /// [`PerformError::NotResumed`] if the execution is not an interrupted one, or another process
    /// took it over; and those of [`perform`](Self::perform).
    pub fn perform_again<'a, T: Repeatable>(
        &'a self,
        running: Execution<Running>,
        service: impl Perform<T> + 'static,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        Box::pin(async move {
            let (span, service) = spans::call(&running, true, service);
            spans::record_call(span, self.performed_again(running, service, by)).await
        })
    }

    async fn performed_again<T: Repeatable>(
        &self,
        mut running: Execution<Running>,
        service: impl Perform<T> + 'static,
        by: &ToolNode,
    ) -> Result<Settled, PerformError<T>> {
        let id = running.id();
        let not_resumed = |source: EffectError| PerformError::NotResumed { source };
        if running.context().is_irreversible() || Progress::read(&running).permit().is_none() {
            return Err(not_resumed(EffectError::NotInterrupted { id }));
        }
        match self.liveness(&running).await {
            Ok(Liveness::Alive) if !self.is_overdue(&Progress::read(&running)) => {
                return Err(not_resumed(EffectError::NotInterrupted { id }));
            }
            Ok(_) => {}
            Err(error) => return Err(not_resumed(EffectError::unread(id, error))),
        }
        let contract = running.context();
        let arguments =
            service.check_call(contract).and_then(|()| contract.arguments_to_run::<T>());
        let arguments =
            arguments.map_err(|source| not_resumed(EffectError::Contract { id, source }))?;
        let attempt = Attempt::new(arguments, id, running.context());
        let record = self.call_record(id, false).await.map_err(not_resumed)?;
        let journal = running.__journal_mut(Pass::new());
        let epoch = journal.epoch() + 1;
        let fenced =
            Fact::Fenced { epoch, reason: "its worker ended, or its timeout passed".to_owned() };
        journal.append(Some(who(by)), fenced);
        let (fact, expires_at) = self.permitted(&running, None, None);
        append(&mut running, who(by), fact);
        if let Err(error) = self.batch().commit(&mut running).write().await {
            record.prove();
            return Err(not_resumed(error));
        }
        let timeout = running.context().timeout();
        let expires_at = timeout.map(|_| expires_at);
        let handle = self.call_handle(record, &running, by);
        let permit = Permit::new(attempt, expires_at, timeout, None, handle);
        let outcome = permit.call(service).await;
        self.end(running, outcome, by).await
    }

    async fn end<T: Callable>(
        &self,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, PerformError<T>> {
        self.settle(running, outcome, by).await.map_err(|refused| {
            let (running, outcome) = refused.machine;
            PerformError::NotSettled {
                at_stake: Box::new((running, outcome)),
                source: refused.reason,
            }
        })
    }
}

/// An execution that is being performed. The future has a name, so that a wrong tool or service
/// makes one error, and not one for each `.await`.
type Performing<'a, T> = BoxFuture<'a, Result<Settled, PerformError<T>>>;

/// Why [`Store::perform`] did not end an execution.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PerformError<T: Callable> {
    /// It has not begun, and nothing was called.
    #[error("{source}")]
    NotBegun {
        /// The execution, unchanged.
        planned: Box<Planned<T>>,
        /// The reason.
        source: EffectError,
    },
    /// It was called, and its outcome is not on disk.
    #[error("{source}")]
    NotSettled {
        /// The execution and the outcome. Settle it again.
        at_stake: Box<(Execution<Running>, Unsettled)>,
        /// The reason.
        source: EffectError,
    },
    /// It was not run again.
    #[error("{source}")]
    NotResumed {
        /// The reason.
        source: EffectError,
    },
}

impl<T: Callable> PerformError<T> {
    /// Why the store refused.
    #[must_use]
    pub fn reason(&self) -> &EffectError {
        match self {
            Self::NotBegun { source, .. }
            | Self::NotSettled { source, .. }
            | Self::NotResumed { source } => source,
        }
    }
}

/// The delays between the calls of a read: 200 ms, 500 ms and 1 s.
///
/// ```
/// use backon::BackoffBuilder;
/// use machine::effects::ReadBackoff;
///
/// assert_eq!(ReadBackoff.build().count(), 3);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadBackoff;

impl BackoffBuilder for ReadBackoff {
    type Backoff = std::array::IntoIter<Duration, 3>;

    fn build(self) -> Self::Backoff {
        [200, 500, 1000].map(Duration::from_millis).into_iter()
    }
}

/// Delays by the clock of a store.
struct Sleeper(Arc<dyn Clock>);

impl backon::Sleeper for Sleeper {
    type Sleep = BoxFuture<'static, ()>;

    fn sleep(&self, time: Duration) -> Self::Sleep {
        self.0.sleep(time)
    }
}
