use std::path::PathBuf;

use super::Check;
use crate::{
    contract::execution::Status,
    erased::{Breach, VerifyError},
    id::Id,
};

/// Why a store did not do what it was asked. Whatever it is, what is on disk is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    // Opening.
    /// The file cannot be opened or made.
    #[error("cannot open {path}: {reason}; check that its folder exists and may be written")]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is no SQLite database.
    #[error("{path} is no database; name another file, or move this one away")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of ours, and parts of it cannot be read.
    #[error("{path} is damaged; restore it from a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{path} is a database of another program; name another file")]
    OtherProgram {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by an older version of this library, in a format that is not read any
    /// more.
    #[error(
        "{path} has format {found}, and this program reads format {known} only; use the older \
         program that wrote it"
    )]
    TooOld {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format that this program reads.
        known: i64,
    },
    /// The file has machines that this program cannot read.
    #[error("{path} has machines that this program cannot read; nothing was changed\n{check}")]
    Incompatible {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        check: Box<Check>,
    },
    /// The file was written by a newer version of this library.
    #[error(
        "{path} has format {found}, and this program knows formats up to {known}; use the newer \
         program that wrote it"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// The file cannot be written.
    #[error("{path} cannot be written; make the file and its folder writable")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// SQLite does not give the durability that the guarantees rest on.
    #[error("{path} cannot be made durable: {setting} is {found}; use a local file system")]
    NotDurable {
        /// The file.
        path: PathBuf,
        /// The setting that was asked for.
        setting: &'static str,
        /// What SQLite read back.
        found: String,
    },

    // Writing.
    /// Another process holds the database.
    #[error("another process holds the database; nothing was written; try again when it is done")]
    Busy,
    /// Somebody else moved the machine first.
    #[error(
        "somebody else moved {id} first, so nothing of this was written; load it again and look"
    )]
    Conflict {
        /// The machine.
        id: Id,
    },
    /// No machine has this id.
    #[error("there is no machine {id}; `list` names those that there are")]
    NotFound {
        /// The id.
        id: Id,
    },
    /// A machine with this id is there already.
    #[error("{id} is already stored; use `commit` for what happened since")]
    AlreadyStored {
        /// The machine.
        id: Id,
    },
    /// The machine was never stored.
    #[error("{id} was never stored; `create` it first")]
    NeverStored {
        /// The machine.
        id: Id,
    },
    /// The rules of the machine's context forbid this history.
    #[error("{id}: {breach}")]
    Refused {
        /// The machine.
        id: Id,
        /// The rule.
        breach: Breach,
    },
    /// A state, a payload or a context cannot be written as JSON.
    #[error("{id} cannot be written as JSON: {source}; mend its `Serialize`")]
    Unwritable {
        /// The machine.
        id: Id,
        /// What serde said.
        source: serde_json::Error,
    },

    /// The program's definition cannot be written as JSON.
    #[error("the definition cannot be written as JSON: {0}")]
    Definition(#[source] serde_json::Error),

    // Reading back.
    /// The stored machine failed verification, or does not fit this program.
    #[error(transparent)]
    Unbelievable(#[from] VerifyError),
    /// The machine is in another state than the one asked for.
    #[error("{id} is {found}, not {expected}; {legal}")]
    OtherState {
        /// The machine.
        id: Id,
        /// The state that was asked for.
        expected: &'static str,
        /// The state that it is in.
        found: &'static str,
        /// What can be done there.
        legal: String,
    },
    /// The machine has waited for longer than allowed.
    #[error(
        "{id} has waited for {age_ms} ms, longer than {limit_ms} ms; cancel it, or resume it \
         without a limit"
    )]
    Expired {
        /// The machine.
        id: Id,
        /// How long it has waited, in milliseconds.
        age_ms: u64,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },

    // Irreversible actions.
    /// The action behind the key has been done.
    #[error("this was already done by {by}; it is not done twice")]
    AlreadyDone {
        /// The execution that did it.
        by: Id,
    },
    /// Another live execution holds the key.
    #[error("{by} is about to do this, or may have done it; wait for its end, or settle it")]
    KeyHeld {
        /// The execution that holds the key.
        by: Id,
    },
    /// Another action goes by the same key.
    #[error("{by} uses the same key for another action; one key stands for one action")]
    KeyReused {
        /// The other execution.
        by: Id,
    },
    /// The execution waits behind a confirmation that has not come.
    #[error(
        "{id} waits for the confirmation {gate}, which is {}; answer that first",
        status.definition().label
    )]
    Deferred {
        /// The execution.
        id: Id,
        /// Its confirmation.
        gate: Id,
        /// Where that one is.
        status: Status,
    },
    /// The confirmation was refused, so the execution never runs.
    #[error(
        "{id} never runs: its confirmation {gate} is {}; ask again with a new one",
        status.definition().label
    )]
    NeverRuns {
        /// The execution.
        id: Id,
        /// Its confirmation.
        gate: Id,
        /// How that one ended.
        status: Status,
    },
    /// The confirmation confirms something else.
    #[error("{gate} confirms another action than that of {id}; ask for this one")]
    OtherAction {
        /// The execution.
        id: Id,
        /// The confirmation.
        gate: Id,
    },
    /// The action can be repeated without harm.
    #[error("{id} is not irreversible and needs no permit; `start` it and `commit`")]
    NeedsNoPermit {
        /// The execution.
        id: Id,
    },
    /// The outcome belongs to another execution.
    #[error("this outcome is of {of}, not of {id}; settle it there")]
    OtherOutcome {
        /// The execution that was to be settled.
        id: Id,
        /// The execution whose permit was used.
        of: Id,
    },
    /// The worker was shut out while it worked. Its evidence was kept and changes nothing.
    #[error(
        "{id} was taken over while this worker was at it; what it found is kept as late evidence, \
         for people to see"
    )]
    Fenced {
        /// The execution.
        id: Id,
    },
    /// Nobody can say whether the action took place.
    #[error(
        "{id} is in doubt; find out whether it took place, then confirm that it did or did not"
    )]
    InDoubt {
        /// The execution.
        id: Id,
    },
    /// There is no doubt to settle.
    #[error("{id} is not in doubt; there is nothing to confirm")]
    NotInDoubt {
        /// The execution.
        id: Id,
    },

    /// The store's thread is gone.
    #[error("the store has stopped; open it again")]
    Stopped,
    /// Anything else that SQLite says.
    #[error("SQLite: {0}; nothing was written")]
    Sqlite(#[source] rusqlite::Error),
    /// The file system refused what locks need.
    #[error("cannot keep a lock beside the database: {0}; make its folder writable")]
    Lock(#[source] std::io::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
