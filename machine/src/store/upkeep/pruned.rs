use crate::store::integrity::verify::Problem;

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
