use crate::id::Id;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerRow {
    pub(crate) id: Id,
    pub(crate) name: String,
    /// Its process, machine kinds, senders and tools, as JSON text.
    pub(crate) body: String,
}

#[derive(Debug, Clone)]
pub(crate) enum CrewChange {
    /// Of a worker that starts; it replaces the row of this id.
    Put(WorkerRow),
    Remove(Vec<Id>),
}
