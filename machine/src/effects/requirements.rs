//! Requirements of a batch: open gates, and the parents of retries.

use crate::{
    clock::Millis,
    contract::ApprovalEnd,
    effects::{gate_state::GateState, retries::OtherAttempt},
    id::Id,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
};

impl Store {
    /// Refuses a retry while another attempt at the action is open. A machine decides itself what follows when one
    /// of its children fails, and does not see an attempt that is not its child: so a retry of a child is a child
    /// of the same machine.
    pub(crate) async fn may_retry(
        &self,
        ready: &Prepared,
        children: &[(Id, Id)],
    ) -> Result<(), CommitError> {
        let (id, is_new) = (ready.write.row.id, ready.write.expected.is_none());
        let unreadable = |source| match source {
            LoadError::Unavailable(error) => error.into(),
            source => CommitError::Gate { id, source: Box::new(source) },
        };
        let Some(failed) = ready.index.retry_of.filter(|_| is_new) else { return Ok(()) };
        if let Some(key) = &ready.index.key
            && let Some(OtherAttempt::Open(open)) =
                self.other_attempt(failed, key).await.map_err(unreadable)?
        {
            return Err(CommitError::AttemptOpen { id: failed, open });
        }
        match self.inner.backend.parent(failed).await?.map_err(LoadError::from) {
            Ok(Some(parent)) if !children.contains(&(id, parent)) => {
                Err(CommitError::OfParent { id: failed, parent })
            }
            Ok(_) => Ok(()),
            Err(source) => Err(unreadable(source)),
        }
    }

    /// Refuses a machine that leaves its initial state without the approval that it needs. The gate may be
    /// answered by the same batch; `known` is one that was loaded for this batch. Returns the gate, and when its
    /// approval ends.
    pub(crate) async fn gate_is_open(
        &self,
        ready: &Prepared,
        batch: &[Prepared],
        known: Option<GateState>,
    ) -> Result<Option<(Id, Millis)>, CommitError> {
        let (id, now) = (ready.write.row.id, self.now());
        // What a policy repeats has no gate of its own, but the end of the approval that it goes back to.
        let end = ready.approval_end.map(|ApprovalEnd { gate, at, .. }| (gate, at));
        if let Some((gate, at)) = end.filter(|(_, at)| *at <= now) {
            return Err(CommitError::ApprovalExpired { id, gate, at });
        }
        let Some(gate) = ready.gate else { return Ok(end) };
        let known = known.filter(|known| known.gate() == gate);
        let state = match GateState::in_batch(gate, batch).or(known) {
            Some(state) => state,
            None => self.gate_state(id, gate).await?,
        };
        let expires_at = state.opens(id, ready.index.call, now)?;
        Ok(expires_at.map(|at| (gate, at)).or(end))
    }
}
