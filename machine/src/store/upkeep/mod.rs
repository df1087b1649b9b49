//! Backups, and the pruning of ended machines.

pub(crate) mod backup;
pub(crate) mod prune;
pub(crate) mod pruned;
pub(crate) mod pruning;
