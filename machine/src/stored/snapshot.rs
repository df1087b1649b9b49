use std::sync::Arc;

use super::{Durable, Restore, Unread, Verified};
use crate::{definition::Definition, journal::Journal};

/// A copy of a machine, to put it back if a batch is not written.
#[derive(Debug)]
pub(crate) struct Snapshot {
    definition: &'static Definition,
    journal: Journal,
    state: usize,
    state_text: String,
    context_text: Arc<str>,
}

impl Snapshot {
    pub(crate) fn of(machine: &dyn Durable) -> serde_json::Result<Self> {
        Ok(Self {
            definition: machine.definition(),
            journal: machine.journal().clone(),
            state: machine.state_index(),
            state_text: machine.__state_text()?,
            context_text: machine.__context_text()?,
        })
    }

    pub(crate) fn restore<M: Restore>(self) -> Result<M, Unread> {
        let Self { definition, journal, state, state_text, context_text } = self;
        let version = definition.version;
        M::__restore(Verified { journal, state, version, state_text, context_text })
    }
}
