use crate::{
    id::Id,
    store::{
        error::Unavailable,
        read::{cursor::Cursor, subscribe::Position},
    },
    stored::VerifyError,
};

/// Why a machine was not loaded. Nothing was changed.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum LoadError {
    /// No machine has this id.
    #[error("no machine {id} in this store; see `list`")]
    NotFound { id: Id },
    /// The machine was deleted by [`Store::prune`](crate::store::Store::prune), and its attempt at
    /// an idempotency key is kept. Only views report this; loading returns
    /// [`NotFound`](Self::NotFound).
    #[error(
        "{id} was pruned, so its history is gone{}",
        if *applied { "; its action took effect and is not repeated" } else { "" }
    )]
    Pruned { id: Id, applied: bool },
    /// The stored machine failed verification, or is incompatible with this program.
    #[class = "unreadable"]
    #[error(transparent)]
    Unreadable(#[from] VerifyError),
    /// A journal entry cannot be read.
    #[error("entry {sequence} of the journal cannot be read: {reason}; restore it from a backup")]
    BrokenEntry { sequence: u64, reason: String },
    /// The position belongs to another generation of the store, or is later than its newest entry.
    #[error(
        "the store has no position {position}; the newest is {newest}: was an older copy of the file \
         restored? Read everything again from the start"
    )]
    UnknownPosition { position: Position, newest: Position },
    /// The cursor belongs to a list in another order.
    #[error(
        "the cursor `{cursor}` was issued for a different sort order; use the cursor of the previous \
         page, or none for the first page"
    )]
    OtherOrder { cursor: Cursor },
    /// A row has no id that can be read.
    #[error("a row cannot be read: {reason}; restore it from a backup")]
    BrokenRow { reason: String },
    /// A record of an agent, such as a turn, has a format that this program does not know.
    #[class = "unreadable"]
    #[error(
        "the record `{kind}` {id} does not match its type in this program: {reason}; run the program \
         that wrote it"
    )]
    OtherForm { kind: String, id: Id, reason: String },
    /// An agent, or one of its queued turns, cannot be listed.
    #[class = "unreadable"]
    #[error("agent `{agent}`: {source}")]
    OfAgent { agent: String, source: Box<LoadError> },
    /// The storage cannot be read now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl LoadError {
    /// The value, or `None` if it is unreadable. That the storage is unavailable stays an error.
    pub(crate) fn readable<T>(read: Result<T, Self>) -> Result<Option<T>, Unavailable> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Self::Unavailable(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
