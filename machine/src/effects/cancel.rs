use crate::{
    __private::who,
    actor::{GraphRunner, ToolNode},
    contract::{
        Execution, bounded, close,
        execution::{Cancelled, Pending},
        fork,
    },
    effects::retry::Retry,
    id::Id,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
    },
    typed::Refused,
};

impl Store {
    /// Ends an execution that will never be called, such as the loser of a key. It goes from PENDING through RUNNING to CANCELLED in one commit, without a permit,
    /// and without taking its key. If its gate still waits for an answer, the same commit withdraws the
    /// gate, because there is nothing left to approve.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Conflict`] if it was begun in the meantime.
    pub async fn cancel(
        &self,
        pending: Execution<Pending>,
        reason: &str,
        by: &ToolNode,
    ) -> Result<Execution<Cancelled>, Refused<Execution<Pending>, CommitError>> {
        let id = pending.id();
        let is_new = pending.journal().version() == 0;
        let behind = pending.context().behind();
        let mut cancelled = close(fork(&pending), reason, who(by), by);
        loop {
            let mut gate = match self.withdrawn_gate(behind, id, reason).await {
                Ok(gate) => gate,
                Err(error) => return Err(Refused::new(pending, error)),
            };
            let batch = self.batch();
            let batch =
                if is_new { batch.create(&mut cancelled) } else { batch.commit(&mut cancelled) };
            let batch = gate.iter_mut().fold(batch, |batch, gate| batch.commit(gate));
            match batch.write_with(Retry::default()).await {
                Ok(()) => return Ok(cancelled),
                // Another answer to the gate came first, which does not keep the execution from ending.
                Err(CommitError::Conflict { id }) if Some(id) == behind => {}
                Err(error) => return Err(Refused::new(pending, error)),
            }
        }
    }

    /// The gate of an execution, withdrawn but not committed; `None` if it does not wait for an answer.
    pub(crate) async fn withdrawn_gate(
        &self,
        gate: Option<Id>,
        execution: Id,
        reason: &str,
    ) -> Result<Option<Execution<Cancelled>>, CommitError> {
        let Some(gate) = gate else { return Ok(None) };
        match self.gate(gate).await {
            Ok(gate) if gate.approval().execution() == execution => {
                let reason = bounded(reason.to_owned());
                Ok(Some(gate.fork().cancel(reason, &GraphRunner::STORE)))
            }
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            // A gate that has ended, or cannot be read, does not keep the execution from ending.
            _ => Ok(None),
        }
    }
}
