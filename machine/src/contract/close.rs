use super::{
    CallFact, Closing, Decision, Execution, append, bounded,
    execution::{Cancelled, MayCancel, MayStart, Pending, Running},
    progress::LONGEST,
};
use crate::actor::who::Who;

/// Ends an execution that has not begun: without a permit, and without taking its key.
pub(crate) fn close<A: MayStart<Pending> + MayCancel<Running>>(
    mut pending: Execution<Pending>,
    (reason, cause): (&str, Closing),
    decided_by: Who<'_>,
    by: &A,
) -> Execution<Cancelled> {
    let reason = bounded(reason.to_owned());
    append(&mut pending, decided_by, CallFact::Closed { reason: reason.clone(), cause });
    pending.start(by).cancel(reason, by)
}

impl Closing {
    pub(crate) fn cancelled(by: Who<'_>) -> Self {
        Self::Cancelled { by: by.name.map(str::to_owned), by_person: false }
    }

    pub(crate) fn declined(by: &str, reason: &str) -> Self {
        Self::Declined { by: by.to_owned(), reason: reason.chars().take(LONGEST).collect() }
    }

    /// The end of a gate that lets nothing run, as the end of its action: `timeout` is the trigger
    /// of its last move if it was not answered in time.
    pub(crate) fn of_gate(
        decision: Option<&Decision>,
        reason: &str,
        trigger: Option<&str>,
    ) -> Self {
        match (decision, trigger) {
            (Some(decision), _) => Self::declined(&decision.by, reason),
            (None, Some("timeout")) => Self::Expired,
            (None, _) => Self::Cancelled { by: None, by_person: false },
        }
    }
}
