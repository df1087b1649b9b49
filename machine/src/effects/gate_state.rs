use crate::{
    clock::Millis,
    contract::{AnyExecution, execution::Status},
    effects::begin::Approved,
    id::Id,
    journal::Digest,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
    stored::{Approves, Durable, Index},
};

/// A gate, as the action behind it sees it.
#[derive(Debug, Clone)]
pub(crate) struct GateState {
    gate: Id,
    status: Status,
    approves: Option<Approves>,
}

impl GateState {
    /// A gate that the same batch writes.
    pub(crate) fn in_batch(gate: Id, batch: &[Prepared]) -> Option<Self> {
        let found = batch.iter().find(|it| it.write.row.id == gate && it.index.contract)?;
        // The statuses of a contract are those of `Execution`.
        let status = found.write.row.status.parse().unwrap_or(Status::Pending);
        Some(Self { gate, status, approves: found.index.approves.clone() })
    }

    fn of(gate: &AnyExecution) -> Result<Self, crate::stored::Breach> {
        let part = &gate.journal().stored().summary.context;
        let Index { approves, .. } = gate.__rules().__fold(part, &[])?.after;
        Ok(Self { gate: gate.id(), status: gate.status(), approves })
    }

    pub(crate) fn gate(&self) -> Id {
        self.gate
    }

    /// The approval that it gave, whether or not that is enough.
    pub(crate) fn approved(&self) -> Option<Approved> {
        let decision = self.approves.as_ref()?.decision.as_ref().filter(|it| it.approved)?;
        Some(Approved::new(self.gate, &decision.by, decision.expires_at))
    }

    /// Refuses, unless a person approved this execution and this exact action, and the approval has not expired.
    /// Returns when it does. A gate that is COMPLETED cannot change any more; an execution leaves PENDING once, so
    /// an approval is used once.
    pub(crate) fn opens(
        &self,
        id: Id,
        action: Option<Digest>,
        now: Millis,
    ) -> Result<Option<Millis>, CommitError> {
        let Self { gate, status, approves } = self;
        let gate = *gate;
        match *status {
            Status::Completed => {
                let approves = approves
                    .as_ref()
                    .filter(|approves| approves.execution == id)
                    .filter(|approves| Some(approves.action) == action)
                    .ok_or(CommitError::OtherAction { id, gate })?;
                let decision = approves.decision.as_ref().filter(|decision| decision.approved);
                let decision = decision.ok_or(CommitError::NotApproved { id, gate })?;
                match decision.expires_at {
                    Some(at) if at <= now => Err(CommitError::ApprovalExpired { id, gate, at }),
                    expires_at => Ok(expires_at),
                }
            }
            status @ (Status::Failed | Status::Rejected | Status::Cancelled) => {
                Err(CommitError::NeverRuns { id, gate, status })
            }
            status @ (Status::Pending | Status::Running | Status::Waiting) => {
                Err(CommitError::Deferred { id, gate, status })
            }
        }
    }
}

impl Store {
    /// The gate of an execution. A stored gate is verified like every machine.
    pub(crate) async fn gate_state(&self, id: Id, gate: Id) -> Result<GateState, CommitError> {
        match self.load::<AnyExecution>(gate).await {
            Ok(gate) => GateState::of(&gate).map_err(|breach| CommitError::Refused { id, breach }),
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            Err(error) => Err(CommitError::Gate { id, source: Box::new(error) }),
        }
    }
}
