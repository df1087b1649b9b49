//! Machines that nothing can move.

use super::{Handler, Job};
use crate::{
    store::{Unavailable, inbox::protocol::Wake},
    stored::Restore,
    worker::Task,
};

impl<H: Handler> Job<'_, H> {
    /// Returns whether nothing can move the machine: the handler has returned `Wait` in a state
    /// that must not last, and there is no open call or child, no deadline, no queued message, and
    /// no move for a person.
    pub(super) async fn is_stuck(
        &mut self,
        task: Option<&Task>,
        wake: Option<Wake>,
    ) -> Result<bool, Unavailable> {
        let waits = task.is_some_and(|task| !task.has_children() && !task.sends_itself());
        let is_open = wake.is_some()
            || self.due_at.is_some()
            || !self.messages.is_empty()
            || !self.waits.is_empty();
        // An execution says itself what it waits for.
        if H::__HAS_PERMITS || !waits || is_open {
            return Ok(false);
        }
        let definition = <H::Machine as Restore>::DEFINITION;
        let state = self.state.and_then(|name| definition.state(name));
        let lasts = |state: usize| {
            definition.states[state].stable
                || definition.leaving(state).any(|edge| definition.is_for_person(edge))
        };
        if state.is_none_or(lasts) {
            return Ok(false);
        }
        let children = self.shared.store.inner.backend.children(self.id()).await?;
        Ok(children.iter().all(|child| child.as_ref().is_ok_and(|child| child.has_ended)))
    }
}
