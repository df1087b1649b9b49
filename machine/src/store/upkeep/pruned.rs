use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, DigestKey},
    store::integrity::verify::Problem,
};

/// The progress of [`Store::prune`](crate::store::Store::prune).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PruneProgress {
    /// The number of machines checked.
    pub looked_at: u64,
    /// The number of machines that were deleted.
    pub machines: u64,
    /// The number of their journal entries.
    pub entries: u64,
}

/// The result of [`Store::prune`](crate::store::Store::prune): the deleted machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of machines.
    pub machines: u64,
    /// The number of their journal entries.
    pub entries: u64,
    /// The problems of machines that failed verification. They were kept.
    pub problems: Vec<Problem>,
}

/// A call of [`Store::prune`](crate::store::Store::prune) that deleted something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruning {
    /// Its id, new with each call.
    pub id: Id,
    /// The name of the person.
    pub by: String,
    /// When it began, by the clock of the store (milliseconds since the Unix epoch).
    pub at: Millis,
    /// The number of machines that were deleted.
    pub machines: u64,
    /// The number of their journal entries.
    pub entries: u64,
}

impl Pruning {
    pub(crate) fn seal(&self, key: &DigestKey) -> Digest {
        key.digest(&[
            b"prune",
            self.id.bytes(),
            self.by.as_bytes(),
            &self.at.to_le_bytes(),
            &self.machines.to_le_bytes(),
            &self.entries.to_le_bytes(),
        ])
    }
}
