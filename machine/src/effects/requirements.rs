//! Requirements of a batch: open gates, and the parents of retries.

use crate::{
    clock::Millis,
    contract::ApprovalEnd,
    effects::gate_state::GateState,
    id::Id,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
};

impl Store {
    /// A machine decides itself what follows when one of its children fails, and does not see an attempt that is
    /// not its child. So a new attempt at what a child did is a child of the same machine.
    pub(crate) async fn joins_parent(
        &self,
        ready: &Prepared,
        children: &[(Id, Id)],
    ) -> Result<(), CommitError> {
        let (id, is_new) = (ready.write.row.id, ready.write.expected.is_none());
        let Some(failed) = ready.index.retry_of.filter(|_| is_new) else { return Ok(()) };
        match self.inner.backend.parent(failed).await?.map_err(LoadError::from) {
            Ok(Some(parent)) if !children.contains(&(id, parent)) => {
                Err(CommitError::OfParent { id: failed, parent })
            }
            Ok(_) => Ok(()),
            Err(source) => Err(CommitError::Gate { id, source: Box::new(source) }),
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
        // An execution that a policy repeats has no gate; it is bound by the end of the original approval.
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
