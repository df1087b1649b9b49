use std::{any::Any, sync::Arc};

use super::IdempotencyKey;
use crate::{id::Id, journal::Digest};

/// The right to perform one irreversible action, once.
///
/// Only [`SqliteStore::begin`] issues permits, after RUNNING and the hold on the key are on disk.
/// A permit cannot be cloned or stored, and a tool takes it by value. Dropping it unanswered leaves
/// its execution in doubt.
///
/// [`SqliteStore::begin`]: crate::store::SqliteStore::begin
#[derive(Debug)]
#[must_use = "a permit that is dropped leaves its execution in doubt"]
pub struct Permit {
    pub(crate) execution_id: Id,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) epoch: u64,
    pub(crate) action: Digest,
    pub(crate) timeout_seconds: Option<u64>,
    /// A guard: while it is alive, the call is in flight and no one takes it over.
    pub(crate) at_work: AtWork,
}

/// A guard for a call in flight in this process. The worker holds the weak counterpart.
pub(crate) type AtWork = Arc<dyn Any + Send + Sync>;

impl Permit {
    /// The execution that the permit belongs to.
    #[must_use]
    pub fn execution_id(&self) -> Id {
        self.execution_id
    }

    /// The idempotency key, for a service that deduplicates too.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The fencing token: a service that remembers the highest one it has seen can refuse lower
    /// ones.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The digest of the permitted action.
    #[must_use]
    pub fn action(&self) -> Digest {
        self.action
    }

    /// The timeout of the call in seconds; `None` means no limit.
    #[must_use]
    pub fn timeout(&self) -> Option<u64> {
        self.timeout_seconds
    }
}
