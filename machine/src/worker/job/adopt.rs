//! Machines that entered their state before it made calls.

use super::{Flow, Handler, Job};
use crate::{
    effects::error::EffectError,
    id::Id,
    store::{
        Cause, CommitError, Store, Unavailable,
        backend::{Condition, Messages},
        inbox::{outcome::OutcomePlace, protocol::Event},
    },
    stored::Durable,
};

impl<H: Handler> Job<'_, H> {
    /// Makes the calls of the current state for a machine that has none, if its invocation says
    /// `adopt`.
    pub(super) async fn adopt(&mut self) -> Result<Flow, Unavailable> {
        let adopts = self.invocation().is_some_and(|invocation| invocation.adopt);
        let Some(entry) = self.entered().filter(|_| adopts) else { return Ok(Flow::Go) };
        let (store, id) = (&self.shared.store, self.lease.id);
        if has_calls(store, id, entry).await? {
            return Ok(Flow::Go);
        }
        let Some(machine) = &mut self.machine else { return Ok(Flow::Go) };
        let version = machine.journal().version();
        let under_lease = Event::Acknowledge { token: self.lease.token, messages: Vec::new() };
        let batch = store.batch().event(id, under_lease);
        let batch = batch.on_condition(Condition::Version { id, version }).adopt(machine);
        match batch.write_events().await {
            Ok(_) => Ok(Flow::Go),
            Err(EffectError::Unavailable(error)) => Err(error),
            Err(EffectError::LeaseLost { .. }) => {
                self.released = true;
                self.emit_lost();
                Ok(Flow::End)
            }
            Err(EffectError::Commit(CommitError::Conflict { id })) if id == self.id() => {
                self.reload().await
            }
            Err(error) => {
                self.fail(Cause::NotWritten, error.class(), error.to_string(), false).await
            }
        }
    }
}

/// Returns whether the entry has made calls, or has had outcomes in their place.
async fn has_calls(store: &Store, id: Id, entry: u64) -> Result<bool, Unavailable> {
    let backend = &store.inner.backend;
    if !backend.calls(id, entry + 1).await?.is_empty() {
        return Ok(true);
    }
    for position in [None, Some(0)] {
        let place = OutcomePlace::Entry { entry, position };
        if !backend.messages(Messages::One(id, place.to_string())).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
