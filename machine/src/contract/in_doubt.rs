use super::{
    AnyExecution, CallFact, Evidence, Execution, Progress,
    execution::{Completed, Failed, MaySuspend, Running, Waiting},
};
use crate::{
    actor::{Actor, GraphRunner},
    journal::Pass,
    stored::Durable,
};

/// An execution in doubt: its irreversible action may or may not have taken place.
///
/// It waits, its key stays held, and nothing runs it again. To settle it, find out what happened
/// and call [`Store::confirm_applied`] or [`Store::confirm_not_applied`].
///
/// [`Store::confirm_applied`]: crate::store::Store::confirm_applied
/// [`Store::confirm_not_applied`]: crate::store::Store::confirm_not_applied
#[derive(Debug)]
#[must_use = "it waits until someone settles it"]
pub struct InDoubt(Execution<Waiting>);

impl InDoubt {
    /// Narrows an execution that waits because of an unanswered permit; returns any other unchanged.
    pub(crate) fn narrow(any: AnyExecution) -> Result<Self, AnyExecution> {
        match any {
            AnyExecution::Waiting(waiting) if is_in_doubt(&waiting) => Ok(Self(waiting)),
            other => Err(other),
        }
    }

    /// Parks a running execution whose call has no definite answer, for this reason.
    pub(crate) fn park<A: Actor + MaySuspend<Running>>(
        mut running: Execution<Running>,
        epoch: u64,
        reason: &str,
        by: &A,
    ) -> Self {
        record(&mut running, epoch, Evidence::Unknown(reason.to_owned()), by);
        let summary = running.context().summary().to_owned();
        let prompt = format!("Did this take place: {summary}? It is in doubt: {reason}.");
        Self(running.suspend(prompt, by))
    }

    /// The execution.
    pub fn execution(&self) -> &Execution<Waiting> {
        &self.0
    }

    /// The question to ask a person.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.0.state().prompt
    }

    /// The epoch of the unanswered permit.
    fn epoch(&self) -> u64 {
        let permit = Progress::of(&self.0).unanswered();
        permit.map_or(self.0.journal().epoch(), |permit| permit.epoch)
    }

    pub(crate) fn machine_mut(&mut self) -> &mut Execution<Waiting> {
        &mut self.0
    }

    pub(crate) fn applied(self, receipt: String, by: &GraphRunner) -> Execution<Completed> {
        let epoch = self.epoch();
        let mut running = self.0.resume(by);
        record(&mut running, epoch, Evidence::Applied(receipt.clone()), by);
        running.succeed(receipt, by)
    }

    pub(crate) fn not_applied(self, reason: String, by: &GraphRunner) -> Execution<Failed> {
        let epoch = self.epoch();
        let mut running = self.0.resume(by);
        record(&mut running, epoch, Evidence::NotApplied(reason.clone()), by);
        running.fail(reason, by)
    }
}

/// Appends evidence about the call.
pub(crate) fn record<A: Actor>(
    running: &mut Execution<Running>,
    epoch: u64,
    evidence: Evidence,
    _by: &A,
) {
    let fact = CallFact::Evidence { epoch, evidence, late: false };
    running.__journal_mut(Pass::new()).append(Some(A::KIND.into()), fact.into_fact());
}

fn is_in_doubt(waiting: &Execution<Waiting>) -> bool {
    Progress::of(waiting).unanswered().is_some()
}
