use super::{CommitError, LoadError, Store, retry::Retry};
use crate::{
    actor::GraphRunner,
    contract::{
        AnyExecution, Execution, InDoubt,
        execution::{Completed, Failed, Waiting},
    },
    id::Id,
    stored::{Durable, Snapshot},
    typed::{Refused, State},
};

impl Store {
    /// Loads an execution that is in doubt.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), and [`LoadError::NotInDoubt`].
    pub async fn in_doubt(&self, id: Id) -> Result<InDoubt, LoadError> {
        let any: AnyExecution = self.load(id).await?;
        InDoubt::narrow(any).map_err(|_| LoadError::NotInDoubt { id })
    }

    /// Settles an execution in doubt: the action took place. The execution becomes COMPLETED.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Conflict`] if it was settled otherwise, or late
    /// evidence arrived: load it again and check.
    pub async fn confirm_applied(
        &self,
        doubt: InDoubt,
        receipt: impl Into<String>,
        by: &GraphRunner,
    ) -> Result<Execution<Completed>, Refused<InDoubt, CommitError>> {
        let receipt = receipt.into();
        self.confirm(doubt, |doubt| doubt.applied(receipt, by)).await
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
    ) -> Result<Execution<Failed>, Refused<InDoubt, CommitError>> {
        let reason = reason.into();
        self.confirm(doubt, |doubt| doubt.not_applied(reason, by)).await
    }

    async fn confirm<M: Durable>(
        &self,
        mut doubt: InDoubt,
        settle: impl FnOnce(InDoubt) -> M,
    ) -> Result<M, Refused<InDoubt, CommitError>> {
        let id = doubt.execution().id();
        let snapshot = match Snapshot::of(doubt.machine_mut()) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                let reason = CommitError::Unwritable { id, reason: error.to_string() };
                return Err(Refused::new(doubt, reason));
            }
        };
        let mut settled = settle(doubt);
        let mut retry = Retry::default();
        let reason = loop {
            match self.commit(&mut settled).await {
                Ok(()) => return Ok(settled),
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        let waiting = snapshot.restore::<AnyExecution>().map(Waiting::narrow);
        match waiting.map(|waiting| waiting.map(|waiting| InDoubt::narrow(waiting.into()))) {
            Ok(Ok(Ok(doubt))) => Err(Refused::new(doubt, reason)),
            _ => unreachable!("the snapshot was taken from an execution in doubt"),
        }
    }
}
