use crate::{
    clock::Millis,
    contract::{AnyExecution, execution::Status},
    effects::error::EffectError,
    id::Id,
    journal::Digest,
    store::{error::CommitError, handle::Store, write::prepare::Prepared},
    stored::{Approves, Breach, Index, Requirement},
};

#[derive(Debug, Clone)]
pub(crate) struct GateState {
    pub(crate) gate: Id,
    status: Status,
    digest: Digest,
    approves: Option<Approves>,
}

impl GateState {
    /// A gate that the same batch writes.
    pub(crate) fn in_batch(gate: Id, batch: &[Prepared]) -> Option<Self> {
        let found = batch.iter().find(|it| it.write.row.id == gate && it.index.contract)?;
        // The statuses of a contract are those of `Execution`.
        let status = found.write.row.status.parse().unwrap_or(Status::Pending);
        let (digest, approves) = (found.stored.head, found.index.approves.clone());
        Some(Self { gate, status, digest, approves })
    }

    fn of(gate: &AnyExecution) -> Result<Self, Breach> {
        let (digest, approves) = (gate.journal().stored().head, Index::of(gate)?.approves);
        Ok(Self { gate: gate.id(), status: gate.status(), digest, approves })
    }

    /// The name of the person who approved it, whether or not that is enough.
    pub(crate) fn approved_by(&self) -> Option<String> {
        let decision = self.approves.as_ref()?.decision.as_ref().filter(|it| it.approved)?;
        Some(decision.by.clone())
    }

    /// Refuses, unless a person approved this execution and this exact action, and the approval has
    /// not expired. Returns what must still hold when the execution is written. A COMPLETED gate is
    /// final; an execution leaves PENDING once, so an approval is used once.
    pub(crate) fn opens(
        &self,
        id: Id,
        action: Option<Digest>,
        now: Millis,
    ) -> Result<Requirement, EffectError> {
        let Self { gate, status, digest, approves } = self;
        let gate = *gate;
        match *status {
            Status::Completed => {
                let approves = approves
                    .as_ref()
                    .filter(|approves| approves.execution == id)
                    .filter(|approves| Some(approves.action) == action)
                    .ok_or(EffectError::OtherAction { id, gate })?;
                let decision = approves.decision.as_ref().filter(|decision| decision.approved);
                let decision = decision.ok_or(EffectError::NotApproved { id, gate })?;
                match decision.expires_at {
                    Some(at) if at <= now => Err(EffectError::ApprovalExpired { id, gate, at }),
                    not_after => Ok(Requirement {
                        machine: gate,
                        state: status.to_string(),
                        digest: *digest,
                        not_after,
                    }),
                }
            }
            status @ (Status::Failed | Status::Rejected | Status::Cancelled) => {
                Err(EffectError::NeverRuns { id, gate, status })
            }
            status @ (Status::Pending | Status::Running | Status::Waiting) => {
                Err(EffectError::Deferred { id, gate, status })
            }
        }
    }
}

impl Store {
    /// The gate of an execution. A stored gate is verified like every machine.
    pub(super) async fn gate_state(&self, id: Id, gate: Id) -> Result<GateState, EffectError> {
        match self.load::<AnyExecution>(gate).await {
            Ok(gate) => GateState::of(&gate)
                .map_err(|breach| EffectError::Commit(CommitError::Refused { id, breach })),
            Err(error) => Err(EffectError::unread(id, error)),
        }
    }
}
