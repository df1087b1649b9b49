use crate::{
    __private::who,
    actor::ToolNode,
    contract::{
        Execution, close,
        execution::{Cancelled, Pending},
        fork,
    },
    effects::retry::Retry,
    store::{error::CommitError, handle::Store},
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
        let mut cancelled = close(fork(&pending), reason, who(by), by);
        let batch = self.batch();
        let batch = match pending.journal().version() {
            0 => batch.create(&mut cancelled),
            _ => batch.commit(&mut cancelled),
        };
        match batch.write_with(Retry::default()).await {
            Ok(()) => Ok(cancelled),
            Err(error) => Err(Refused::new(pending, error)),
        }
    }
}
