use serde::{Deserialize, Serialize};

use crate::{clock::Millis, id::Id};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerRow {
    pub(crate) id: Id,
    pub(crate) name: String,
    /// Its process, machine kinds, senders and tools, as JSON text.
    pub(crate) body: String,
}

/// A reader that keeps the log of a file from being reset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PinnedLog {
    /// When it was first noticed, by the clock of the store.
    pub(crate) since: Millis,
    /// Its process, or several of which it is one; none if it is unknown.
    pub(crate) pids: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(crate) enum CrewChange {
    /// Of a worker that starts, or refuses to; or it replaces the row of this id.
    Put(WorkerRow),
    Remove(Vec<Id>),
}
