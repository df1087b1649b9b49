use std::sync::Arc;

use crate::{
    clock::Millis,
    definition::Fingerprint,
    id::Id,
    journal::{Digest, Line},
};

/// A machine's row. Sealed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: Id,
    /// The definition's name, such as `execution`. Not a column: the definition knows it.
    pub(crate) machine: String,
    pub(crate) definition: Fingerprint,
    pub(crate) status: String,
    pub(crate) version: u64,
    pub(crate) epoch: u64,
    pub(crate) created_at: Millis,
    pub(crate) updated_at: Millis,
    pub(crate) ended: bool,
    /// Its evidence contradicts its end, and no person has acknowledged that.
    pub(crate) contradicted: bool,
    pub(crate) due_at: Option<Millis>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
    /// The status of the machine that it is behind. Not a column: it is read from that machine's
    /// row.
    pub(crate) gate: Option<String>,
    pub(crate) commit_id: i64,
    pub(crate) seal: Digest,
    /// The data of the state, the summary of the past, and the context, each as JSON text. A write
    /// leaves out a context that has not changed; a read for a list leaves out all three.
    pub(crate) state: String,
    pub(crate) summary: String,
    pub(crate) context: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every row is found")]
pub(crate) enum FoundRow {
    /// The row, and the digest of the newest line (none where the caller wants no whole rows).
    Row(Row, Option<Digest>),
    Missing(Id),
    Broken(Broken),
}

impl FoundRow {
    /// The id of the machine, if it can be read.
    pub(crate) fn id(&self) -> Option<Id> {
        match self {
            Self::Row(row, _) => Some(row.id),
            Self::Missing(id) => Some(*id),
            Self::Broken(broken) => broken.id,
        }
    }

    pub(crate) fn definition(&self) -> Option<Fingerprint> {
        match self {
            Self::Row(row, _) => Some(row.definition),
            Self::Missing(_) | Self::Broken(_) => None,
        }
    }
}

/// Data that this library did not write. They concern one machine or one attempt only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The machine, if its id can be read.
    pub(crate) id: Option<Id>,
    pub(crate) reason: String,
    /// The place of a row in the order of its deadline, if that can be read.
    pub(crate) due_at: Option<Millis>,
}

#[derive(Debug, Clone)]
pub(crate) struct Sequenced {
    pub(crate) seq: u64,
    /// The machine, unless the row is broken.
    pub(crate) id: Option<Id>,
    pub(crate) line: Result<Line, Broken>,
    /// On the last line of each transaction: covers every line of the file so far.
    pub(crate) chain: Option<Digest>,
}
