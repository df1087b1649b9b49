//! The parent of a call, which may have to act before the call begins.

use crate::{
    actor::Category,
    contract::{Execution, execution::Pending},
    definition::Fit,
    store::{Cause, LoadError, Store, backend::FoundRow, inbox::message::Queued},
};

/// Returns whether the parent of this call comes first: its deadline is due, or a person has sent
/// it a message that its state takes, such as a pause while no worker ran, and a worker has yet to
/// try that. What was tried, and waits for a call or for another program, comes after it; what has
/// failed is tried again before it.
pub(super) async fn comes_first(
    store: &Store,
    call: &Execution<Pending>,
) -> Result<bool, LoadError> {
    let Some(origin) = call.context().invoked() else { return Ok(false) };
    let (found, work, messages) = store.inner.backend.task(origin.id).await?;
    let FoundRow::Row(row, _) = &found else { return Ok(false) };
    // It has ended, or no worker drives it.
    let Some(work) = work else { return Ok(false) };
    let now = store.now();
    // A worker that lets the machine wait has tried what is due and what is queued, apart from a
    // deadline whose attempt has failed, or that comes after a handler whose attempt has failed.
    // One that could not read the machine has tried nothing.
    let is_unread = work.failed.as_ref().is_some_and(|it| it.fault.cause == Cause::Unreadable);
    let rests = work.rests(now) && !is_unread;
    // One that was set aside fires only after a person has requeued the machine.
    let due_at = row.due_at.filter(|at| *at <= now && !work.deadline.set_aside);
    if due_at.is_some_and(|at| !rests || !work.may_fire(now) || work.holds(at)) {
        return Ok(true);
    }
    if rests || messages.is_empty() {
        return Ok(false);
    }
    let definitions = store.definition_of(&found).await?;
    let written = definitions.iter().find(|it| it.fingerprint == row.definition);
    let Some(definition) = written else { return Ok(false) };
    let state = definition.state(&row.status);
    // Of a message that was sent later than the newest entry, the refusal is by the current state.
    let is_refused = |message: &Queued| {
        let is_not_taken = message.fault.as_ref().is_some_and(|it| it.cause == Cause::NotTaken);
        is_not_taken && message.sent_at > row.updated_at
    };
    let mut untried = messages.iter().filter(|it| it.intact && !is_refused(it));
    Ok(untried.any(|message| {
        let by = &message.actor;
        let trigger = message.trigger.as_deref();
        definition.category(by) == Category::Human
            && trigger.is_some_and(|trigger| definition.fit(state, trigger, by) == Fit::Now)
    }))
}
