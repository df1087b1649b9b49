//! The store's interface for workers: agenda, leases, and the writes under a lease.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    contract::{BoxFuture, Liveness},
    definition::Definition,
    id::Id,
    store::{
        backend::{Agenda, Broken, Found, Messages, Rejected},
        error::{CommitError, LoadError, Unavailable},
        handle::Store,
        inbox::{
            message::{Queued, Received},
            protocol::{Event, Outcome, Work},
        },
    },
    stored::Restore,
    telemetry,
};

/// A machine with what there is to do for it.
pub(crate) struct Read<M> {
    pub(crate) machine: Result<M, LoadError>,
    pub(crate) work: Option<Work>,
    /// The queued messages, oldest first.
    pub(crate) messages: Vec<Queued>,
    /// Another version of the program has written it.
    pub(crate) is_of_other: bool,
}

impl Store {
    /// The machines to look at next, those that wait longest first, and later the ones of the future.
    pub(crate) async fn agenda(
        &self,
        kinds: &[String],
        limit: usize,
        ended: Vec<String>,
    ) -> Result<Vec<Agenda>, Unavailable> {
        self.inner.backend.agenda(kinds.to_vec(), limit, ended).await
    }

    pub(crate) async fn read<M: Restore>(&self, id: Id) -> Result<Read<M>, Unavailable> {
        let (found, work, messages) = self.inner.backend.task(id).await?;
        let own = M::DEFINITION.fingerprint;
        let is_of_other = found.definition().is_some_and(|definition| definition != own);
        let machine = match self.machine_of(found).await {
            Err(LoadError::Unavailable(error)) => return Err(error),
            other => other,
        };
        Ok(Read { machine, work, messages, is_of_other })
    }

    /// The triggers of other versions of a machine.
    pub(crate) async fn triggers_of_others(
        &self,
        own: &Definition,
    ) -> Result<BTreeSet<String>, Unavailable> {
        let stored = self.inner.backend.definitions().await?.intact;
        let others = stored
            .iter()
            .filter(|other| other.name == own.name && other.fingerprint != own.fingerprint);
        let edges = others.flat_map(|other| &other.edges[..]);
        Ok(edges.map(|edge| edge.trigger.to_string()).collect())
    }

    /// One message, if it is as it was sent.
    pub(crate) async fn message(
        &self,
        to: Id,
        correlation: &str,
    ) -> Result<Result<Received, LoadError>, Unavailable> {
        let which = Messages::One(to, correlation.to_owned());
        let found = self.inner.backend.messages(which).await?.pop();
        Ok(found
            .unwrap_or_else(|| {
                let reason = "the message is missing".to_owned();
                Err(Broken { id: Some(to), reason, due_at: None })
            })
            .map_err(LoadError::from))
    }

    async fn machine_of<M: Restore>(&self, found: Found) -> Result<M, LoadError> {
        let definitions = self.definition_of(&found).await?;
        self.current(self.restore_safely(found, &definitions)?).await
    }

    /// Records an event under a lease. `None` if the lease is lost.
    pub(crate) async fn under_lease(
        &self,
        id: Id,
        event: Event,
    ) -> Result<Option<Outcome>, Unavailable> {
        Ok(match self.happens(id, event).await? {
            Ok(outcome) => Some(outcome),
            Err(Rejected::Refused { .. } | Rejected::NotFound(_)) => None,
            Err(rejected) => {
                let error = CommitError::from(rejected).class();
                telemetry::WorkerPostponed { operation: "lease", error }.emit();
                None
            }
        })
    }

    /// The workers that have leases, and have ended for certain.
    pub(crate) async fn ended_holders(&self) -> Result<Vec<String>, Unavailable> {
        let holders = self.inner.backend.holders().await?;
        let worker = self.inner.worker.clone();
        self.run(move || {
            let ended = |name: &String| {
                name != worker.name()
                    && matches!(worker.liveness_of_process(name), Ok(Liveness::Ended))
            };
            holders.into_iter().filter(ended).collect()
        })
        .await
    }

    /// Shows other processes that this one is alive.
    pub(crate) async fn announce(&self) -> Result<(), CommitError> {
        let worker = self.inner.worker.clone();
        if worker.observes() {
            return Err(Unavailable::read_only().into());
        }
        let announced = self.run(move || worker.announce()).await?;
        announced.map_err(|error| CommitError::Lock(error.to_string()))
    }

    /// Releases the lock of this process, as its end would.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn lock_release(&self) -> impl Fn() + Send + Sync + 'static {
        let worker = self.inner.worker.clone();
        move || worker.release()
    }

    /// The name of this process for leases.
    pub(crate) fn worker_name(&self) -> &str {
        self.inner.worker.name()
    }

    /// See [`Clock::uptime`](crate::clock::Clock::uptime).
    pub(crate) fn uptime(&self) -> Duration {
        self.inner.clock.uptime()
    }

    /// Ends once the clock of the store has advanced by this time.
    pub(crate) fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.inner.clock.sleep(time)
    }
}
