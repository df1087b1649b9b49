use crate::{
    actor::ToolNode,
    actor::who::who,
    contract::{
        AnyExecution, CallFact, Evidence, Execution, InDoubt, Progress, Settled, Unsettled,
        execution::Running,
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
    /// A fence, or a report of a receipt; the execution in its current state.
    Late(Box<AnyExecution>),
    /// A report that settles nothing before the call has answered.
    Reported(Execution<Running>),
}

impl Store {
    /// Keeps the evidence of a worker that was fenced, or whose service had already reported a
    /// receipt: then the execution is COMPLETED.
    pub(super) async fn came_late(
        &self,
        current: AnyExecution,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Unsettled), EffectError>> {
        let (id, Unsettled { evidence, handle, .. }) = (running.id(), &outcome);
        let (epoch, call) = (handle.epoch, &handle.record);
        let reported = match current {
            AnyExecution::Completed(done) if done.journal().epoch() <= epoch => Some(done),
            _ => None,
        };
        let kept = match (&reported, evidence) {
            (Some(_), Evidence::Unknown(_)) => {
                self.evidence_written(id, call, evidence, Liveness::Ended);
                Ok(())
            }
            _ => self.keep_late(id, epoch, evidence, call, who(by)).await,
        };
        let reason = match (kept, reported) {
            (Ok(()), Some(done)) => return Ok(Settled::Completed(done)),
            (Ok(()), None) => EffectError::Fenced { id },
            (Err(error), _) => receipt_at_risk(id, evidence, error),
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
        let (epoch, evidence) = (outcome.handle.epoch, outcome.evidence());
        let unreadable = |error: LoadError| EffectError::unread(id, error);
        let current: AnyExecution = self.load(id).await.map_err(unreadable)?;
        if current.journal().epoch() > epoch {
            return Ok(Superseded::Late(Box::new(current)));
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
            done @ AnyExecution::Completed(_) => Ok(Superseded::Late(Box::new(done))),
            _ => Err(EffectError::Commit(CommitError::Conflict { id })),
        }
    }
}
