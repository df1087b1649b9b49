//! Messages from the child to the parent.

use machine::Id;
use serde::{Deserialize, Serialize};

/// Orders of the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) file: std::path::PathBuf,
    pub(super) seed: u64,
    /// The number of concurrent tasks.
    pub(super) workers: usize,
    /// The number of operations of each task.
    pub(super) operations: usize,
    /// The number of characters added to the text of a transition, so that checkpoints happen.
    pub(super) padding: usize,
    /// The fail point at which the child kills itself, and how often it is passed before.
    pub(super) point: Option<(String, usize)>,
}

/// One line of the child. What it will do is said before it does it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    Will {
        operation: u64,
        writes: Vec<Planned>,
    },
    /// All of it is durable.
    Did {
        operation: u64,
    },
    /// Nothing of it was written.
    Refused {
        operation: u64,
    },
    WillRecover,
    /// These are in doubt.
    DidRecover {
        in_doubt: Vec<Id>,
    },
    /// Every operation is done.
    End,
}

/// The entries that an operation writes for one machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Planned {
    pub(super) id: Id,
    /// The number of its entries before; 0 creates it.
    pub(super) from: u64,
    /// The new entries in short.
    pub(super) entries: Vec<String>,
    /// The name of its state afterwards.
    pub(super) status: String,
    /// The text of its last transition, which is in the data of the state.
    pub(super) text: Option<String>,
}
