use super::{
    CommitError, LoadError, Store,
    attempt::{Attempt, CONTRACTS},
    backend::Attempts,
};
use crate::{
    actor::{Actor, GraphRunner},
    contract::{AnyExecution, InDoubt},
    id::Id,
    journal::{Fact, Pass},
    stored::Durable,
};

/// The executions that [`Store::recover`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// The executions in doubt, in the order in which they were begun.
    pub in_doubt: Vec<InDoubt>,
    /// The executions that cannot be read, and why. The id is missing if that cannot be read either.
    pub failed: Vec<(Option<Id>, LoadError)>,
}

impl Store {
    /// Finds the executions in doubt and parks them in WAITING, for a person or a reconciler. Call it
    /// when a program starts.
    ///
    /// A running execution is in doubt if its permit is unanswered and its worker is dead or has
    /// exceeded the contract's timeout. The worker is fenced first (epoch + 1), so that a late answer
    /// changes no state. Returns all executions in doubt, including those parked earlier. One that
    /// cannot be read does not keep the others from being recovered.
    ///
    /// # Errors
    ///
    /// [`CommitError::Unavailable`] if the storage cannot do it now. Executions parked until then
    /// stay parked.
    pub async fn recover(&self) -> Result<Recovered, CommitError> {
        let mut recovered = Recovered { in_doubt: Vec::new(), failed: Vec::new() };
        for candidate in self.inner.backend.attempts(Attempts::Unanswered).await? {
            let candidate = match candidate {
                Ok(candidate) if candidate.space == CONTRACTS => candidate,
                Ok(_) => continue,
                Err(broken) => {
                    recovered.failed.push((broken.id, broken.into()));
                    continue;
                }
            };
            match self.take_over(&candidate).await? {
                Ok(doubt) => recovered.in_doubt.extend(doubt),
                Err(error) => recovered.failed.push((Some(candidate.by), error)),
            }
        }
        let worker = self.inner.worker.clone();
        self.run(move || worker.sweep()).await?;
        Ok(recovered)
    }

    /// Parks the candidate if its worker is dead or overdue, and returns it if it is in doubt.
    async fn take_over(
        &self,
        candidate: &Attempt,
    ) -> Result<Result<Option<InDoubt>, LoadError>, CommitError> {
        loop {
            let mut running = match self.load::<AnyExecution>(candidate.by).await {
                Ok(AnyExecution::Running(running)) => running,
                // Already parked, or settled in the meantime.
                Ok(other) => return Ok(Ok(InDoubt::narrow(other).ok())),
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(error) => return Ok(Err(error)),
            };
            let overdue = candidate.expires_at.is_some_and(|at| at < self.now());
            if !overdue {
                match self.is_at_work(candidate).await? {
                    Ok(false) => {}
                    Ok(true) => return Ok(Ok(None)),
                    Err(error) => return Ok(Err(LoadError::Lock(error.to_string()))),
                }
            }
            let reason = if overdue {
                "the call exceeded its timeout without an answer"
            } else if candidate.worker.as_deref() == Some(self.inner.worker.name()) {
                "its permit was dropped without an answer"
            } else {
                "the process that made the call ended before it recorded an answer"
            };
            let epoch = running.journal().epoch();
            let fenced = Fact::Fenced { epoch: epoch + 1, reason: reason.to_owned() };
            running.__journal_mut(Pass::new()).append(Some(GraphRunner::KIND.into()), fenced);
            let mut doubt = InDoubt::park(running, epoch, reason, &GraphRunner);
            match self.commit(doubt.machine_mut()).await {
                Ok(()) => return Ok(Ok(Some(doubt))),
                // Its worker answered, or another process parked it: retry.
                Err(CommitError::Conflict { .. }) => {}
                Err(error @ CommitError::Unavailable(_)) => return Err(error),
                Err(error) => {
                    let id = candidate.by;
                    return Ok(Err(LoadError::NotParked { id, source: Box::new(error) }));
                }
            }
        }
    }

    async fn is_at_work(&self, candidate: &Attempt) -> Result<std::io::Result<bool>, CommitError> {
        let worker = self.inner.worker.clone();
        let (name, id) = (candidate.worker.clone().unwrap_or_default(), candidate.by);
        Ok(self.run(move || worker.is_at_work(&name, id)).await?)
    }
}
