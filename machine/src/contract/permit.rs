use std::{any::Any, fmt, sync::Arc};

use super::IdempotencyKey;
use crate::{id::Id, journal::Digest};

/// The right to perform one irreversible action, once.
///
/// Only [`Store::begin`] issues permits, after RUNNING and the hold on the key are on disk.
/// A permit cannot be cloned or stored, and a tool takes it by value. Dropping it unanswered leaves
/// its execution in doubt.
///
/// [`Store::begin`]: crate::store::Store::begin
#[derive(Debug)]
#[must_use = "a permit that is dropped leaves its execution in doubt"]
pub struct Permit {
    pub(crate) execution_id: Id,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) epoch: u64,
    pub(crate) token: Token,
    pub(crate) action: Digest,
    pub(crate) timeout_seconds: Option<u64>,
    /// A guard: while it is alive, the call is in flight and no one takes it over.
    pub(crate) at_work: AtWork,
}

/// A guard for a call in flight in this process. The worker holds the weak counterpart.
pub(crate) type AtWork = Arc<dyn Any + Send + Sync>;

/// A fencing token. Later permits of a store have larger tokens.
///
/// Its `Display` has a fixed width, so that tokens also compare as text.
///
/// ```
/// # fn example(permit: &machine::contract::Permit, highest_seen: machine::contract::Token) {
/// let is_stale = permit.token() < highest_seen;
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    generation: u64,
    sequence: u64,
}

impl Token {
    #[cfg(feature = "sqlite")]
    pub(crate) fn new(generation: u64, sequence: u64) -> Self {
        Self { generation, sequence }
    }

    /// The generation of the store: it rises when an older copy of the store is put to use.
    #[must_use]
    pub fn generation(self) -> u64 {
        self.generation
    }

    /// The sequence number of the journal entry that issued the permit.
    #[must_use]
    pub fn sequence(self) -> u64 {
        self.sequence
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:010}-{:020}", self.generation, self.sequence)
    }
}

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
    /// ones. It rises from attempt to attempt.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
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
