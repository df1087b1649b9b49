use crate::{
    __private::who,
    actor::ToolNode,
    contract::{
        AnyExecution, CallFact, Evidence, Execution, InDoubt, Liveness, Outcome, Progress, Settled,
        execution::{Completed, Running},
    },
    effects::settle::unsettled,
    id::Id,
    store::{
        error::{CommitError, LoadError},
        handle::Store,
    },
    typed::Refused,
};

/// The commit that superseded an outcome.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Overtaken {
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
    /// Keeps what a call has answered after its service had reported a receipt.
    pub(crate) async fn reported_first(
        &self,
        current: Execution<Completed>,
        running: Execution<Running>,
        outcome: Outcome,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Outcome), CommitError>> {
        let id = running.id();
        let Outcome { evidence, handle, .. } = &outcome;
        if let Evidence::Unknown(_) = evidence {
            self.evidence_written(id, handle.record(), evidence, Liveness::Ended);
            return Ok(Settled::Completed(current));
        }
        match self.keep_late(id, handle.epoch(), evidence, handle.record(), who(by)).await {
            Ok(()) => Ok(Settled::Completed(current)),
            Err(error) => {
                let reason = unsettled(id, outcome.evidence(), error);
                Err(Refused::new((running, outcome), reason))
            }
        }
    }

    /// Keeps the evidence of a fenced worker.
    pub(crate) async fn fenced(
        &self,
        running: Execution<Running>,
        outcome: Outcome,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Outcome), CommitError>> {
        let id = running.id();
        let Outcome { evidence, handle, .. } = &outcome;
        let kept = self.keep_late(id, handle.epoch(), evidence, handle.record(), who(by)).await;
        let reason = match kept {
            Ok(()) => CommitError::Fenced { id },
            Err(error) => unsettled(id, outcome.evidence(), error),
        };
        Err(Refused::new((running, outcome), reason))
    }

    /// Something was committed since the permit was issued: this very outcome, by a commit whose
    /// answer was lost, a fence, or a report of the service.
    pub(crate) async fn overtaken(
        &self,
        id: Id,
        outcome: &Outcome,
    ) -> Result<Overtaken, CommitError> {
        let (epoch, evidence) = (outcome.handle.epoch(), outcome.evidence());
        let unreadable = |error| match error {
            LoadError::Unavailable(error) => CommitError::Unavailable(error),
            error => CommitError::Gate { id, source: Box::new(error) },
        };
        let current: AnyExecution = self.load(id).await.map_err(unreadable)?;
        if current.journal().epoch() > epoch {
            return Ok(Overtaken::Fenced(Box::new(current)));
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
                Ok(Overtaken::Settled(Settled::Completed(done)))
            }
            AnyExecution::Failed(failed) if settled => {
                Ok(Overtaken::Settled(Settled::Failed(failed)))
            }
            AnyExecution::Waiting(waiting)
                if settled && Progress::read(&waiting).awaits_report() =>
            {
                Ok(Overtaken::Settled(Settled::Accepted(waiting)))
            }
            other if settled => match InDoubt::narrow(other) {
                Ok(doubt) => Ok(Overtaken::Settled(Settled::InDoubt(doubt))),
                Err(_) => Err(CommitError::Conflict { id }),
            },
            AnyExecution::Running(running) if Progress::read(&running).is_running_under(epoch) => {
                Ok(Overtaken::Reported(running))
            }
            AnyExecution::Completed(done) => Ok(Overtaken::Ended(done)),
            _ => Err(CommitError::Conflict { id }),
        }
    }
}
