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
    /// What [`load`](Self::load) says, and [`StoreError::NotInDoubt`].
    pub async fn in_doubt(&self, id: Id) -> Result<InDoubt, StoreError> {
        let any: AnyExecution = self.load(id).await?;
        InDoubt::narrow(any).map_err(|_| StoreError::NotInDoubt { id })
    }

    /// Ends the doubt: somebody found out that the action took place. The execution is COMPLETED.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] when somebody else said something first, or late evidence came in:
    /// look again.
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

    /// Ends the doubt: somebody found out that the action did not take place. The execution is
    /// FAILED, and its key is free for another attempt.
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
