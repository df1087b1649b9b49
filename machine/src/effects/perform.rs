use std::{iter, sync::Arc, time::Duration};

use tracing::field::display;

use crate::{
    actor::ToolNode,
    actor::who::who,
    clock::millis,
    contract::{
        Callable, Evidence, Execution, Perform, Permit, Planned, Progress, Repeatable, Settled,
        Unsettled, append, execution::Running,
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
    /// [`PerformError::NotSettled`] with the outcome, if that is not on disk: settle it again.
    ///
    /// ```
    /// use machine::actor::Actors;
    /// use machine::contract::{Answer, Applied, Call, Contract, Perform, Planned, Settled, Tool};
    /// use machine::store::Store;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, Serialize, Deserialize, Tool)]
    /// #[tool(cluster.deploy, irreversible)]
    /// struct Deploy {
    ///     version: u32,
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
        self.performed(planned.into(), service, iter::empty(), by)
    }

    async fn begun<T: Callable>(
        &self,
        planned: Planned<T>,
        service: &impl Perform<T>,
        by: &ToolNode,
    ) -> Result<Begun<T>, PerformError<T>> {
        let (id, checked) = (planned.id(), service.check_call(planned.context()));
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
    /// service gives no receipt, it is called again after each of these delays.
    ///
    /// # Errors
    ///
    /// The errors of [`perform`](Self::perform).
    pub fn perform_with_retries<'a, T: Repeatable>(
        &'a self,
        planned: impl Into<Planned<T>>,
        service: impl Perform<T> + 'static,
        delays: impl IntoIterator<Item = Duration, IntoIter: Send + 'a>,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        self.performed(planned.into(), service, delays.into_iter(), by)
    }

    /// Calls again after each of these delays, if the contract says that this does no harm.
    pub(crate) fn performed<'a, T: Callable>(
        &'a self,
        planned: Planned<T>,
        service: impl Perform<T> + 'static,
        delays: impl Iterator<Item = Duration> + Send + 'a,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        Box::pin(async move {
            let (span, service) = spans::call(&planned, false, service);
            let performed = async {
                let (running, permit) = self.begun(planned, &service, by).await?;
                let outcome = if running.context().is_irreversible() {
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
        mut permit: Permit<T>,
        service: Arc<impl Perform<T> + 'static>,
        mut delays: impl Iterator<Item = Duration> + Send,
    ) -> Unsettled {
        let (id, contract) = (running.id(), running.context());
        // Between two calls it is alive, too.
        let handle = permit.handle();
        let mut attempt = 0;
        loop {
            let outcome = permit.call(Arc::clone(&service)).await;
            if let Evidence::Applied(_) = outcome.evidence() {
                return outcome;
            }
            let (Some(delay), Ok(arguments)) = (delays.next(), contract.arguments_to_run::<T>())
            else {
                return outcome;
            };
            attempt += 1;
            let evidence = outcome.evidence().class();
            let delay_ms = millis(delay);
            telemetry::CallRetried { id: display(id), attempt, evidence, delay_ms }.emit();
            drop(outcome);
            self.inner.clock.sleep(delay).await;
            permit = Permit::new(arguments, contract, None, None, handle.clone());
        }
    }

    /// Runs an idempotent call again whose worker ended, or whose timeout has passed. The old
    /// worker is fenced first.
    ///
    /// # Errors
    ///
    /// [`PerformError::NotResumed`] if the execution was not interrupted, or another process took
    /// it over; and those of [`perform`](Self::perform).
    pub fn perform_again<'a, T: Repeatable>(
        &'a self,
        running: Execution<Running>,
        service: impl Perform<T> + 'static,
        by: &'a ToolNode,
    ) -> Performing<'a, T> {
        Box::pin(self.performed_again(running, service, by))
    }

    /// The contract says whether that does no harm.
    pub(crate) async fn performed_again<T: Callable>(
        &self,
        running: Execution<Running>,
        service: impl Perform<T> + 'static,
        by: &ToolNode,
    ) -> Result<Settled, PerformError<T>> {
        let (span, service) = spans::call(&running, true, service);
        spans::record_call(span, self.again(running, service, by)).await
    }

    async fn again<T: Callable>(
        &self,
        mut running: Execution<Running>,
        service: impl Perform<T> + 'static,
        by: &ToolNode,
    ) -> Result<Settled, PerformError<T>> {
        let id = running.id();
        let not_resumed = |source: EffectError| PerformError::NotResumed { source };
        if running.context().is_irreversible() || Progress::of(&running).permit().is_none() {
            return Err(not_resumed(EffectError::NotInterrupted { id }));
        }
        match self.liveness(&running).await {
            Ok(Liveness::Alive) if !self.is_overdue(&Progress::of(&running)) => {
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
        let handle = self.call_handle(record, &running, by);
        let permit = Permit::new(arguments, running.context(), expires_at, None, handle);
        let outcome = permit.call(service).await;
        self.end(running, outcome, by).await
    }

    async fn end<T: Callable>(
        &self,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, PerformError<T>> {
        self.settle(running, outcome, by).await.map_err(|refused| PerformError::NotSettled {
            at_stake: Box::new(refused.machine),
            source: refused.reason,
        })
    }
}

/// An execution that is being performed. The future has a name, so that a wrong tool or service
/// makes one error, and not one for each `.await`.
type Performing<'a, T> = BoxFuture<'a, Result<Settled, PerformError<T>>>;

/// Why [`Store::perform`] did not end an execution.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum PerformError<T: Callable> {
    /// The execution has not begun, and nothing was called.
    #[error("{source}")]
    NotBegun {
        /// The execution, unchanged.
        planned: Box<Planned<T>>,
        source: EffectError,
    },
    /// The service was called, and the outcome is not on disk.
    #[error("{source}")]
    NotSettled {
        /// The execution and the outcome. Settle it again.
        at_stake: Box<(Execution<Running>, Unsettled)>,
        source: EffectError,
    },
    /// The call was not run again.
    #[error("{source}")]
    NotResumed { source: EffectError },
}

impl<T: Callable> PerformError<T> {
    pub(crate) fn reason(&self) -> &EffectError {
        match self {
            Self::NotBegun { source, .. }
            | Self::NotSettled { source, .. }
            | Self::NotResumed { source } => source,
        }
    }
}

pub(crate) const READ_DELAYS: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1)];
