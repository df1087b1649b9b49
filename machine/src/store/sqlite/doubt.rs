use super::SqliteStore;
use crate::{
    actor::GraphRunner,
    contract::{
        AnyExecution, Execution, InDoubt,
        execution::{Completed, Failed},
    },
    id::Id,
    store::StoreError,
};

impl SqliteStore {
    /// Loads an execution that is in doubt.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), and [`StoreError::NotInDoubt`].
    pub async fn in_doubt(&self, id: Id) -> Result<InDoubt, StoreError> {
        let any: AnyExecution = self.load(id).await?;
        InDoubt::narrow(any).map_err(|_| StoreError::NotInDoubt { id })
    }

    /// Settles an execution in doubt: the action took place. The execution becomes COMPLETED.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if it was settled otherwise, or late evidence arrived: load it again
    /// and check.
    pub async fn confirm_applied(
        &self,
        doubt: InDoubt,
        receipt: impl Into<String>,
        by: &GraphRunner,
    ) -> Result<Execution<Completed>, StoreError> {
        let mut completed = doubt.applied(receipt.into(), by);
        self.commit(&mut completed).await?;
        Ok(completed)
    }

    /// Settles an execution in doubt: the action did not take place. The execution becomes FAILED,
    /// and its key is free for another attempt.
    ///
    /// # Errors
    ///
    /// See [`confirm_applied`](Self::confirm_applied).
    pub async fn confirm_not_applied(
        &self,
        doubt: InDoubt,
        reason: impl Into<String>,
        by: &GraphRunner,
    ) -> Result<Execution<Failed>, StoreError> {
        let mut failed = doubt.not_applied(reason.into(), by);
        self.commit(&mut failed).await?;
        Ok(failed)
    }
}
