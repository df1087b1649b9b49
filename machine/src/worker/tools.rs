//! Type-erased calls of tools by a worker.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use tracing::field::display;

use super::{Failure, handler::UnsupportedHere};
use crate::{
    actor::ToolNode,
    contract::{
        Callable, Execution, InDoubt, InvalidContract, Perform, Planned, Settled, TypedTool,
        execution::{Pending, Running},
    },
    effects::{PerformError, READ_DELAYS, error::EffectError},
    future::BoxFuture,
    store::{CommitError, Store, Unavailable},
    telemetry,
    typed::Refused,
};

#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum Began {
    Settled(Settled),
    /// The worker was fenced before it answered; its evidence is on disk.
    Fenced,
    NotBegun(Execution<Pending>, EffectError),
}

pub(super) trait Runner: Send + Sync {
    /// The name of the tool, if its type says that it is irreversible.
    fn irreversible(&self) -> Option<String>;

    /// Checks that this program derives the keys of the tool that are stored.
    fn compare<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), EffectError>>;

    fn begin<'a>(
        &'a self,
        store: &'a Store,
        pending: Execution<Pending>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Began, Failure>>;

    /// Calls an interrupted idempotent tool again. `None` if another process does.
    fn again<'a>(
        &'a self,
        store: &'a Store,
        running: Execution<Running>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Option<Settled>, Failure>>;

    /// Asks the service for the outcome of a call. Returns whether it is settled now.
    fn ask<'a>(
        &'a self,
        store: &'a Store,
        doubt: InDoubt,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<bool, Failure>>;
}

/// Makes irreversible tools known before their first use, so that no plan can choose their effect,
/// and checks that this program derives the keys that are stored.
pub(super) async fn declare(store: &Store, tools: &[Arc<dyn Runner>]) -> Result<(), EffectError> {
    let names: Vec<_> = tools.iter().filter_map(|tool| tool.irreversible()).collect();
    // Another process may be in the middle of a long transaction.
    while let Err(error) = store.declare(&names).await {
        if !error.is_busy() {
            return Err(error.into());
        }
        telemetry::WorkerWaits { operation: "start", error: error.class() }.emit();
    }
    for tool in tools {
        tool.compare(store).await?;
    }
    Ok(())
}

pub(super) struct Tooled<T, S> {
    service: Arc<S>,
    tool: PhantomData<fn() -> T>,
}

impl<T, S> Tooled<T, S> {
    pub(super) fn new(service: S) -> Self {
        Self { service: Arc::new(service), tool: PhantomData }
    }
}

/// The delay before another try to write an outcome that is not on disk.
const SETTLE_AGAIN: Duration = Duration::from_secs(1);

/// The outcome, once it is on disk. A receipt is retried until it is written.
async fn settle<T: Callable>(
    store: &Store,
    performed: Result<Settled, PerformError<T>>,
    by: &ToolNode,
) -> Result<Settled, PerformError<T>> {
    let Err(PerformError::NotSettled { at_stake, source }) = performed else { return performed };
    let (mut running, mut outcome) = *at_stake;
    let mut error = source;
    loop {
        // Kept as late evidence: that is on disk.
        // Nor can it be written to a store that was closed.
        if error.unavailable() == Some(&Unavailable::Stopped)
            || matches!(error, EffectError::Fenced { .. })
        {
            let at_stake = Box::new((running, outcome));
            return Err(PerformError::NotSettled { at_stake, source: error });
        }
        telemetry::CallUnsettled { id: display(running.id()), error: error.class() }.emit();
        store.inner.clock.sleep(SETTLE_AGAIN).await;
        match store.settle(running, outcome, by).await {
            Ok(settled) => return Ok(settled),
            Err(Refused { machine, reason }) => ((running, outcome), error) = (machine, reason),
        }
    }
}

/// The failure of a call that this program does not run.
fn not_run(reason: InvalidContract) -> Failure {
    match reason {
        // The program that planned it makes other keys, and can run it.
        InvalidContract::OtherIdentity { .. } => UnsupportedHere(reason.to_string()).into(),
        reason => reason.into(),
    }
}

impl<T: Callable, S: Perform<T> + 'static> Runner for Tooled<T, S> {
    fn irreversible(&self) -> Option<String> {
        T::__tool().and_then(TypedTool::irreversible)
    }

    fn compare<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), EffectError>> {
        Box::pin(store.compare_keys::<T>())
    }

    fn begin<'a>(
        &'a self,
        store: &'a Store,
        pending: Execution<Pending>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Began, Failure>> {
        Box::pin(async move {
            let planned = Planned::<T>::of(pending).map_err(|refused| not_run(refused.reason))?;
            let service = Arc::clone(&self.service);
            let performed = store.performed(planned, service, READ_DELAYS.into_iter(), by).await;
            match settle(store, performed, by).await {
                Ok(settled) => Ok(Began::Settled(settled)),
                Err(PerformError::NotSettled { source: EffectError::Fenced { .. }, .. }) => {
                    Ok(Began::Fenced)
                }
                Err(PerformError::NotBegun { planned, source }) => {
                    Ok(Began::NotBegun(planned.into_execution(), source))
                }
                Err(error) => Err(error.to_string().into()),
            }
        })
    }

    fn again<'a>(
        &'a self,
        store: &'a Store,
        running: Execution<Running>,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<Option<Settled>, Failure>> {
        Box::pin(async move {
            let service = Arc::clone(&self.service);
            let performed = store.performed_again::<T>(running, service, by).await;
            match settle(store, performed, by).await {
                Ok(settled) => Ok(Some(settled)),
                Err(PerformError::NotResumed {
                    source:
                        EffectError::Commit(CommitError::Conflict { .. })
                        | EffectError::NotInterrupted { .. },
                }) => Ok(None),
                Err(PerformError::NotResumed { source: EffectError::Contract { source, .. } }) => {
                    Err(not_run(source))
                }
                Err(error) => Err(error.to_string().into()),
            }
        })
    }

    fn ask<'a>(
        &'a self,
        store: &'a Store,
        doubt: InDoubt,
        by: &'a ToolNode,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async move {
            match store.ask_service::<T>(doubt, &*self.service, by).await {
                Ok(Settled::InDoubt(_)) => Ok(false),
                Ok(_) => Ok(true),
                Err(refused) => match refused.reason {
                    EffectError::Unavailable(error) => Err(error.into()),
                    error => {
                        telemetry::DoubtRemains { error: error.class() }.emit();
                        Ok(false)
                    }
                },
            }
        })
    }
}
