use std::{collections::BTreeMap, fmt};

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

/// The result of [`Store::prune`](crate::store::Store::prune): the deleted machines, or those that would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of machines.
    pub machines: u64,
    /// The number of their journal entries.
    pub entries: u64,
    /// The number of machines that are old enough and were kept, by the reason.
    pub kept: BTreeMap<Kept, u64>,
    /// The problems of machines that failed verification. They were kept.
    pub problems: Vec<Problem>,
}

/// Why a machine was not pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kept {
    /// A machine that waits for this gate has not ended.
    Awaited,
    /// Its parent, or one above it, has not ended.
    HasParent,
    /// One of its children, or of theirs, has not ended.
    HasChildren,
    /// Its call is unanswered: a late receipt may arrive.
    Unanswered,
    /// It ended as not done, and a receipt says that it was done. See
    /// [`Prune::contradicted`](crate::store::Prune::contradicted).
    Contradicted,
    /// It is the newest machine, or has the newest journal entry. It can be pruned when there are others.
    Newest,
    /// It changed in the meantime.
    Changed,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Awaited => "a machine that waits for it has not ended",
            Self::HasParent => "one of its ancestors has not ended",
            Self::HasChildren => "one of its descendants has not ended",
            Self::Unanswered => "its call is unanswered, and a late receipt may arrive",
            Self::Contradicted => "it ended as not done, but a receipt says that it was done",
            Self::Newest => "it is the newest machine, or has the newest journal entry",
            Self::Changed => "it changed in the meantime",
        })
    }
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
