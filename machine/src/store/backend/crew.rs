use crate::id::Id;

/// A worker that drives machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerRow {
    pub(crate) id: Id,
    /// The name of its lock file.
    pub(crate) name: String,
    /// Its process, machine kinds, senders and tools, as JSON text.
    pub(crate) body: String,
}

/// A change of the workers.
#[derive(Debug, Clone)]
pub(crate) enum CrewChange {
    Joins(WorkerRow),
    Leave(Vec<Id>),
}
