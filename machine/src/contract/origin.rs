use serde::{Deserialize, Serialize};

use crate::id::Id;

/// The machine, and its entry, that made a call by `#[invoke]`. It is the author of the contract:
/// what a table says is the program's own intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The name of the machine, such as `order`.
    pub machine: String,
    /// The machine.
    pub id: Id,
    /// The number of the journal entry that came into the state.
    pub entry: u64,
    /// The name of the invocation.
    pub invocation: String,
    /// The position among the calls of the entry.
    pub position: u32,
    /// How long the machine waits for the outcome, from the entry on (milliseconds).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<u64>,
    /// The execution.
    pub(super) execution: Id,
}
