use super::SqliteStore;
use crate::{
    actor::{Actor, GraphRunner},
    clock::Millis,
    contract::{AnyExecution, InDoubt, execution},
    erased::Durable,
    id::Id,
    journal::{Fact, Pass},
    store::StoreError,
};

impl SqliteStore {
    /// Finds the executions in doubt and parks them in WAITING, for a person or a reconciler. Call it
    /// when a program starts.
    ///
    /// A running execution is in doubt if its permit is unanswered and its worker is dead or has
    /// exceeded the contract's timeout. The worker is fenced first (epoch + 1), so that a late answer
    /// changes no state. Returns all executions in doubt, including those parked earlier, oldest
    /// first.
    ///
    /// Skips executions that fail verification and logs them through `tracing`; `load` reports the
    /// error.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] if another process locks the database for too long. Executions parked
    /// until then stay parked.
    pub async fn recover(&self) -> Result<Vec<InDoubt>, StoreError> {
        let candidates = self.shared.thread.run(|connection| candidates(connection)).await?;
        let mut in_doubt = Vec::new();
        for candidate in candidates {
            match self.take_over(&candidate).await {
                Ok(doubt) => in_doubt.extend(doubt),
                Err(StoreError::Unreadable(error)) => {
                    tracing::error!(id = %candidate.id, %error, "not recovered");
                }
                Err(error) => return Err(error),
            }
        }
        self.shared.worker.sweep();
        Ok(in_doubt)
    }

    /// Parks the candidate if its worker is dead or overdue, and returns it if it is in doubt.
    async fn take_over(&self, candidate: &Candidate) -> Result<Option<InDoubt>, StoreError> {
        loop {
            let running = match self.load::<AnyExecution>(candidate.id).await? {
                AnyExecution::Running(running) => running,
                // Already parked, or settled in the meantime.
                other => return Ok(InDoubt::narrow(other).ok()),
            };
            let overdue = candidate.expires_at < self.shared.clock.now();
            if !overdue && self.is_alive(candidate)? {
                return Ok(None);
            }
            let reason = if overdue {
                "the call exceeded its timeout without an answer"
            } else {
                "the process that made the call ended before it recorded an answer"
            };
            let mut running = running;
            let epoch = running.journal().epoch();
            let fenced = Fact::Fenced { epoch: epoch + 1, reason: reason.to_owned() };
            running.__journal_mut(Pass::new()).append(Some(GraphRunner::KIND.into()), fenced);
            let mut doubt = InDoubt::park(running, epoch, reason, &GraphRunner);
            match self.commit(doubt.machine_mut()).await {
                Ok(()) => return Ok(Some(doubt)),
                // Its worker answered, or another process parked it: retry.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn is_alive(&self, candidate: &Candidate) -> Result<bool, StoreError> {
        self.shared.worker.is_at_work(&candidate.worker, candidate.id).map_err(StoreError::Lock)
    }
}

/// An execution with an unanswered permit.
struct Candidate {
    id: Id,
    worker: String,
    expires_at: Millis,
}

fn candidates(connection: &rusqlite::Connection) -> Result<Vec<Candidate>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT id, worker, expires_at FROM instance
         WHERE worker IS NOT NULL AND machine = ?1 ORDER BY created_at, id",
    )?;
    let mut rows = select.query([&execution::DEFINITION.name])?;
    let mut candidates = Vec::new();
    while let Some(row) = rows.next()? {
        // Skip malformed rows; `load` reports them.
        let Ok(id) = row.get::<_, String>(0)?.parse() else { continue };
        let expires_at = row.get::<_, Option<Millis>>(2)?.unwrap_or(0);
        candidates.push(Candidate { id, worker: row.get(1)?, expires_at });
    }
    Ok(candidates)
}
