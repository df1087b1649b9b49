use super::{CommitError, Store, retry::Retry};
use crate::{
    __private::who,
    actor::ToolNode,
    contract::{
        AnyExecution, CallFact, Execution, append, bounded,
        execution::{Cancelled, Pending},
    },
    stored::Snapshot,
    typed::{Refused, State},
};

impl Store {
    /// Ends an execution that will never be called: the loser of a key, or one whose gate was
    /// declined. It goes from PENDING through RUNNING to CANCELLED in one commit, without a permit,
    /// and without taking its key.
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
        let reason = bounded(reason.to_owned());
        let mut pending = pending;
        append(&mut pending, who(by), CallFact::Closed { reason: reason.clone() });
        let mut cancelled = pending.start(by).cancel(reason, by);
        let mut retry = Retry::default();
        let error = loop {
            let batch = self.batch();
            let batch =
                if is_new { batch.create(&mut cancelled) } else { batch.commit(&mut cancelled) };
            match batch.write().await {
                Ok(()) => return Ok(cancelled),
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        match snapshot.restore::<AnyExecution>().map(Pending::narrow) {
            Ok(Ok(pending)) => Err(Refused::new(pending, error)),
            _ => unreachable!("the snapshot was taken from a pending execution"),
        }
    }
}
