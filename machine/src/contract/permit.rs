use std::{any::Any, sync::Arc};

use super::IdempotencyKey;
use crate::{id::Id, journal::Digest};

/// The right to do one irreversible thing, once.
///
/// It comes out of [`SqliteStore::begin`] and from nowhere else: after RUNNING and the hold on
/// the key are on disk. It cannot be cloned or stored, and a tool takes it by value. A permit that
/// is dropped unanswered leaves its execution in doubt.
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
    /// While this lives, the process is at work on the call, and nobody takes it over.
    pub(crate) at_work: AtWork,
}

/// Shows that a call is being worked on in this process. Whoever holds the other end can tell.
pub(crate) type AtWork = Arc<dyn Any + Send + Sync>;

impl Permit {
    /// The execution that it belongs to.
    #[must_use]
    pub fn execution_id(&self) -> Id {
        self.execution_id
    }

    /// The idempotency key, for a service that deduplicates as well.
    #[must_use]
    pub fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// The fencing token: a service that remembers the highest one can refuse a lower one.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The digest of the exact action that is permitted.
    #[must_use]
    pub fn action(&self) -> Digest {
        self.action
    }

    /// How long the call may take, in seconds; `None` is without limit.
    #[must_use]
    pub fn timeout(&self) -> Option<u64> {
        self.timeout_seconds
    }
}
