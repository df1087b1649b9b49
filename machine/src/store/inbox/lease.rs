//! The store's interface for workers: ready machines, leases, and the writes under a lease.

use std::{collections::BTreeSet, io};

use crate::{
    definition::Definition,
    id::Id,
    process::Liveness,
    store::{
        backend::{Broken, FoundRow, Messages, ReadyMachine, Rejected},
        error::{CommitError, LoadError, Unavailable},
        handle::Store,
        inbox::{
            message::{Queued, Received},
            protocol::{Event, EventOutcome, Schedule},
        },
    },
    stored::Restore,
    telemetry,
};

/// A machine with what there is to do for it.
pub(crate) struct WorkItem<M> {
    pub(crate) machine: Result<M, LoadError>,
    pub(crate) work: Option<Schedule>,
    /// The queued messages, oldest first.
    pub(crate) messages: Vec<Queued>,
    /// Another version of the program has written it.
    pub(crate) is_of_other: bool,
}

impl Store {
    /// The machines that are due next, longest waiting first, then those due later. One may be
    /// listed twice.
    pub(crate) async fn ready(
        &self,
        kinds: &[String],
        limit: usize,
        ended: Vec<String>,
    ) -> Result<Vec<ReadyMachine>, Unavailable> {
        self.inner.backend.ready(kinds.to_vec(), limit, self.now(), ended).await
    }

    pub(crate) async fn read<M: Restore>(&self, id: Id) -> Result<WorkItem<M>, Unavailable> {
        let (found, work, messages) = self.inner.backend.task(id).await?;
        let own = M::DEFINITION.fingerprint;
        let is_of_other = found.definition().is_some_and(|definition| definition != own);
        let machine = match self.machine_of(found).await {
            Err(LoadError::Unavailable(error)) => return Err(error),
            other => other,
        };
        Ok(WorkItem { machine, work, messages, is_of_other })
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

    async fn machine_of<M: Restore>(&self, found: FoundRow) -> Result<M, LoadError> {
        let definitions = self.definition_of(&found).await?;
        self.current(self.restore_safely(found, &definitions)?).await
    }

    /// Records an event under a lease. `None` if the lease is lost.
    pub(crate) async fn under_lease(
        &self,
        id: Id,
        event: Event,
    ) -> Result<Option<EventOutcome>, Unavailable> {
        let applied = self.apply_event(id, event).await?;
        Ok(match applied {
            Ok(outcome) => Some(outcome),
            Err(Rejected::Refused { .. } | Rejected::Commit(CommitError::NotFound { .. })) => None,
            Err(_) => {
                let error = "rejected";
                telemetry::WorkerPostponed { operation: "lease", error }.emit();
                None
            }
        })
    }

    /// The workers that have leases, and have ended for certain.
    pub(crate) async fn ended_holders(&self) -> Result<Vec<String>, Unavailable> {
        let lease_holders = self.inner.backend.lease_holders().await?;
        let worker = self.inner.worker.clone();
        self.run(move || {
            let ended = |name: &String| {
                name != worker.name()
                    && matches!(worker.liveness_of_process(name), Ok(Liveness::Ended))
            };
            lease_holders.into_iter().filter(ended).collect()
        })
        .await
    }

    /// Shows other processes that this one is alive.
    pub(crate) async fn announce(&self) -> Result<io::Result<()>, Unavailable> {
        let worker = self.inner.worker.clone();
        if worker.observes() {
            return Err(Unavailable::ReadOnly);
        }
        self.run(move || worker.announce()).await
    }
}
