use crate::{
    actor::ToolNode,
    actor::who::who,
    contract::{
        AnyExecution, CallFact, Evidence, Execution, InDoubt, Progress, Settled, Unsettled,
        execution::{Completed, Running},
    },
    effects::{error::EffectError, settle::receipt_at_risk},
    id::Id,
    process::Liveness,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
    },
    typed::Refused,
};

/// The commit that superseded an outcome.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Superseded {
    /// The outcome itself.
    Settled(Settled),
    /// A fence; the execution in its current state.
    Fenced(Box<AnyExecution>),
    /// A report that settles nothing before the call has answered.
    Reported(Execution<Running>),
    /// A report of a receipt.
    Ended(Execution<Completed>),
}

impl Store {
    /// Records the answer of a call whose service had already reported a receipt.
    pub(super) async fn reported_first(
        &self,
        current: Execution<Completed>,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Unsettled), EffectError>> {
        let id = running.id();
        let Unsettled { evidence, handle, .. } = &outcome;
        if let Evidence::Unknown(_) = evidence {
            self.evidence_written(id, handle.record(), evidence, Liveness::Ended);
            return Ok(Settled::Completed(current));
        }
        match self.keep_late(id, handle.epoch(), evidence, handle.record(), who(by)).await {
            Ok(()) => Ok(Settled::Completed(current)),
            Err(error) => {
                let reason = receipt_at_risk(id, outcome.evidence(), error);
                Err(Refused::new((running, outcome), reason))
            }
        }
    }

    /// Keeps the evidence of a fenced worker.
    pub(super) async fn fenced(
        &self,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Unsettled), EffectError>> {
        let id = running.id();
        let Unsettled { evidence, handle, .. } = &outcome;
        let kept = self.keep_late(id, handle.epoch(), evidence, handle.record(), who(by)).await;
        let reason = match kept {
            Ok(()) => EffectError::Fenced { id },
            Err(error) => receipt_at_risk(id, outcome.evidence(), error),
        };
        Err(Refused::new((running, outcome), reason))
    }

    /// Something was committed since the permit was issued: this very outcome, by a commit whose
    /// answer was lost, a fence, or a report of the service.
    pub(super) async fn overtaken(
        &self,
        id: Id,
        outcome: &Unsettled,
    ) -> Result<Superseded, EffectError> {
        let (epoch, evidence) = (outcome.handle.epoch(), outcome.evidence());
        let unreadable = |error: LoadError| EffectError::unread(id, error);
        let current: AnyExecution = self.load(id).await.map_err(unreadable)?;
        if current.journal().epoch() > epoch {
            return Ok(Superseded::Fenced(Box::new(current)));
        }
        let history = self.history(id).await.map_err(unreadable)?;
        let is_this = |fact: CallFact| match fact {
            CallFact::Evidence { epoch: of, evidence: recorded, late: false } => {
                of == epoch && recorded == *evidence
            }
            CallFact::Accepted { epoch: of, .. } => of == epoch && outcome.accepted.is_some(),
            _ => false,
        };
        let settled = history.entries.iter().filter_map(CallFact::of).any(is_this);
        match current {
            AnyExecution::Completed(done) if settled => {
                Ok(Superseded::Settled(Settled::Completed(done)))
            }
            AnyExecution::Failed(failed) if settled => {
                Ok(Superseded::Settled(Settled::Failed(failed)))
            }
            AnyExecution::Waiting(waiting) if settled && Progress::of(&waiting).awaits_report() => {
                Ok(Superseded::Settled(Settled::Accepted(waiting)))
            }
            other if settled => match InDoubt::narrow(other) {
                Ok(doubt) => Ok(Superseded::Settled(Settled::InDoubt(doubt))),
                Err(_) => Err(EffectError::Commit(CommitError::Conflict { id })),
            },
            AnyExecution::Running(running) if Progress::of(&running).is_running_under(epoch) => {
                Ok(Superseded::Reported(running))
            }
            AnyExecution::Completed(done) => Ok(Superseded::Ended(done)),
            _ => Err(EffectError::Commit(CommitError::Conflict { id })),
        }
    }
}
