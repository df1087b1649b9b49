use std::fmt;

use serde_json::Value;

use crate::{clock::Millis, id::Id, journal::Digest, stored::Durable};

/// The consequences of entering a state. A store writes them in the batch with the entry, and knows
/// nothing else of them.
#[derive(Default)]
pub struct Entered {
    /// The calls of the state; `None` if it makes none. There may be 0.
    pub(crate) calls: Option<Vec<EnteredCall>>,
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").field("calls", &self.calls.as_ref().map(Vec::len)).finish()
    }
}

pub(crate) struct EnteredCall {
    /// Its place among the calls of the entry.
    pub(crate) position: u32,
    /// The call or, if it cannot be made, its outcome.
    pub(crate) call: Result<NewCall, Value>,
}

/// A call that is not stored yet. The ids must be the same whenever the entry is the same.
pub(crate) struct NewCall {
    pub(crate) execution: Box<dyn Durable>,
    /// The question whether it may run.
    pub(crate) gate: Option<Box<dyn Durable>>,
}

/// A condition on another machine, at the moment of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) machine: Id,
    /// The name of the state in which it is.
    pub(crate) state: String,
    /// The digest of its newest entry: it has not changed since it was read.
    pub(crate) digest: Digest,
    /// Until when, by the clock of the store.
    pub(crate) not_after: Option<Millis>,
}
