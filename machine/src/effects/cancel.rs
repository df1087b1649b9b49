use crate::{
    actor::who::who,
    actor::{Human, ToolNode},
    contract::{
        Closing, Execution, close,
        execution::{Cancelled, Pending},
        fork,
    },
    effects::error::EffectError,
    store::handle::Store,
    typed::Refused,
};

impl Store {
    /// Ends an execution that will never be called, such as the loser of a key. It goes from
    /// PENDING through RUNNING to CANCELLED in one commit, without a permit, and without taking its
    /// key. If its gate still waits for an answer, the same commit withdraws the gate, because
    /// there is nothing left to approve.
    ///
    /// A message with the trigger `cancel` does not do this: the table of executions takes the
    /// message only once the execution has begun, so an earlier message waits until then.
    ///
    /// # Errors
    ///
    /// The unchanged execution, with [`CommitError::Conflict`](crate::store::CommitError::Conflict)
    /// if it was begun in the meantime.
    pub async fn cancel(
        &self,
        pending: Execution<Pending>,
        reason: &str,
        by: &ToolNode,
    ) -> Result<Execution<Cancelled>, Refused<Execution<Pending>, EffectError>> {
        // The name in the act was valid when the person was authenticated.
        let person = self.act.as_ref().and_then(|act| Human::new(&act.by).ok());
        let decided_by = person.as_ref().map_or(who(by), who);
        let cause = match &self.act {
            Some(act) => Closing::Cancelled { by: Some(act.by.clone()), by_person: true },
            None => Closing::cancelled(who(by)),
        };
        let cancelled = close(fork(&pending), (reason, cause), decided_by, by);
        self.advance(pending, cancelled).await
    }
}
