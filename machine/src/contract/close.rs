use super::{
    CallFact, Execution, append, bounded,
    execution::{Cancelled, MayCancel, MayStart, Pending, Running},
};
use crate::__private::Who;

/// Ends an execution that has not begun: without a permit, and without taking its key.
pub(crate) fn close<A: MayStart<Pending> + MayCancel<Running>>(
    mut pending: Execution<Pending>,
    reason: &str,
    decided_by: Who<'_>,
    by: &A,
) -> Execution<Cancelled> {
    let reason = bounded(reason.to_owned());
    append(&mut pending, decided_by, CallFact::Closed { reason: reason.clone() });
    pending.start(by).cancel(reason, by)
}
