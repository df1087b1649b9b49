use crate::{clock::Millis, id::Id, journal::Digest, stored::Hold};

/// A precondition on a key. The backend folds the attempts with
/// [`key_state`](crate::store::write::attempt::key_state) in the transaction that writes.
#[derive(Debug, Clone)]
pub(crate) struct KeyClaim {
    pub(crate) key: String,
    pub(crate) space: String,
    pub(crate) action: Option<Digest>,
    pub(crate) wants: Wants,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Free: the machine takes it.
    Free,
    /// Not applied: the machine is created.
    NotApplied,
    /// Never used: the machine says that its action is idempotent.
    NeverUsed,
}

#[derive(Debug, Clone)]
pub(crate) struct AttemptChange {
    /// A new attempt, whose token is the sequence number of the machine's last line in this batch;
    /// otherwise the newest one of the machine changes.
    pub(crate) opens: bool,
    pub(crate) key: String,
    pub(crate) space: String,
    pub(crate) action: Option<Digest>,
    pub(crate) hold: Hold,
    pub(crate) worker: Option<String>,
    pub(crate) expires_at: Option<Millis>,
}

#[derive(Debug, Clone)]
pub(crate) enum Attempts {
    OfKey(String),
    OfMachine(Id),
    /// Attempts with a worker: its permit is unanswered, even if late evidence settles the key.
    Unanswered,
    All,
    /// The newest ones at keys of a tool, which begin with these names, with tokens after this one;
    /// at most [`SAMPLE`].
    OfTool(String, u64),
}

/// The number of attempts by which the keys of a tool are compared.
pub(crate) const SAMPLE: usize = 100;
