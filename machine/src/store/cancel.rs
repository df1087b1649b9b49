use super::{CommitError, LoadError, Store, retry::Retry};
use crate::{
    __private::who,
    actor::{GraphRunner, ToolNode},
    contract::{
        AnyExecution, Execution, bounded, close,
        execution::{Cancelled, Pending},
    },
    id::Id,
    stored::Snapshot,
    typed::{Refused, State},
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
        let snapshot = match Snapshot::of(&pending) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                let reason = CommitError::Unwritable { id, reason: error.to_string() };
                return Err(Refused::new(pending, reason));
            }
        };
        let is_new = pending.journal().version() == 0;
        let behind = pending.context().behind();
        let mut cancelled = close(pending, reason, who(by), by);
        let error = loop {
            let mut gate = match self.withdrawn_gate(behind, id, reason).await {
                Ok(gate) => gate,
                Err(error) => break error,
            };
            let mut retry = Retry::default();
            let error = loop {
                let batch = self.batch();
                let batch = if is_new {
                    batch.create(&mut cancelled)
                } else {
                    batch.commit(&mut cancelled)
                };
                let batch = gate.iter_mut().fold(batch, |batch, gate| batch.commit(gate));
                match batch.write().await {
                    Ok(()) => return Ok(cancelled),
                    Err(error) => {
                        if let Some(error) = retry.after(error) {
                            break error;
                        }
                    }
                }
            };
            match error {
                // Somebody answered the gate first, which does not keep the execution from ending.
                CommitError::Conflict { id } if Some(id) == behind => {}
                error => break error,
            }
        };
        match snapshot.restore::<AnyExecution>().map(Pending::narrow) {
            Ok(Ok(pending)) => Err(Refused::new(pending, error)),
            _ => unreachable!("the snapshot was taken from a pending execution"),
        }
    }

    /// The gate of an execution, withdrawn but not committed; `None` if it does not wait for an answer.
    pub(super) async fn withdrawn_gate(
        &self,
        gate: Option<Id>,
        execution: Id,
        reason: &str,
    ) -> Result<Option<Execution<Cancelled>>, CommitError> {
        let Some(gate) = gate else { return Ok(None) };
        match self.gate(gate).await {
            Ok(gate) if gate.approval().execution() == execution => {
                let waiting = gate.into_execution();
                Ok(Some(waiting.cancel(bounded(reason.to_owned()), &GraphRunner::STORE)))
            }
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            // A gate that has ended, or cannot be read, does not keep the execution from ending.
            _ => Ok(None),
        }
    }
}
