//! Backups, and the pruning of what has ended.

pub(crate) mod backup;
pub(crate) mod prune;
pub(crate) mod pruned;
pub(crate) mod pruning;
