use std::path::PathBuf;

use super::Check;
use crate::{
    contract::execution::Status,
    erased::{Breach, VerifyError},
    id::Id,
};

/// Why a store operation failed. What is on disk is unchanged, except for
/// [`Fenced`](Self::Fenced), which keeps late evidence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    // Opening.
    /// The file cannot be opened or created.
    #[error("cannot open {path}: {reason}; check that its folder exists and is writable")]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The file is not a SQLite database.
    #[error("{path} is not a database; use another file, or move this one away")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of this library, but it is corrupt.
    #[error("{path} is damaged; restore it from a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{path} is a database of another program; use another file")]
    OtherProgram {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by an older version of this library, in an unsupported format.
    #[error(
        "{path} has format {found}, and this program supports only format {known}; use the older \
         program that wrote it"
    )]
    TooOld {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The supported format.
        known: i64,
    },
    /// The file has machines that this program cannot read.
    #[error("{path} has machines that this program cannot read; nothing was changed\n{check}")]
    Incompatible {
        /// The file.
        path: PathBuf,
        /// The incompatible machines and changes.
        check: Box<Check>,
    },
    /// The file was written by a newer version of this library.
    #[error(
        "{path} has format {found}, and this program supports formats up to {known}; use the newer \
         program that wrote it"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest supported format.
        known: i64,
    },
    /// The file or its folder is not writable.
    #[error("{path} is not writable; make the file and its folder writable")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file has more than one name on disk. SQLite would keep a write-ahead log for each.
    #[error("{path} has {links} hard links; remove all but one, or copy the file")]
    HardLinked {
        /// The file.
        path: PathBuf,
        /// The number of its names.
        links: u64,
    },
    /// SQLite cannot provide the durability that the guarantees require.
    #[error("{path} cannot be made durable: {setting} is {found}; use a local file system")]
    NotDurable {
        /// The file.
        path: PathBuf,
        /// The setting.
        setting: &'static str,
        /// The value that SQLite reports.
        found: String,
    },

    // Writing.
    /// Another process has the database locked.
    #[error("another process has the database locked; nothing was written; try again later")]
    Busy,
    /// Another commit changed the machine first.
    #[error("{id} was changed by another commit; nothing was written; load it again")]
    Conflict {
        /// The machine.
        id: Id,
    },
    /// No machine has this id.
    #[error("there is no machine {id}; `list` shows the stored machines")]
    NotFound {
        /// The id.
        id: Id,
    },
    /// A machine with this id is already stored.
    #[error("{id} is already stored; use `commit` to write its changes")]
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
        /// The broken rule.
        breach: Breach,
    },
    /// A state, a payload or a context cannot be written as JSON.
    #[error("{id} cannot be written as JSON: {source}; fix its `Serialize` implementation")]
    Unwritable {
        /// The machine.
        id: Id,
        /// The serialization error.
        source: serde_json::Error,
    },

    /// The program's definition cannot be written as JSON.
    #[error("the definition cannot be written as JSON: {0}")]
    Definition(#[source] serde_json::Error),

    // Reading.
    /// The stored machine failed verification, or is incompatible with this program.
    #[error(transparent)]
    Unreadable(#[from] VerifyError),
    /// The machine is not in the requested state.
    #[error("{id} is {found}, not {expected}; {legal}")]
    OtherState {
        /// The machine.
        id: Id,
        /// The requested state.
        expected: &'static str,
        /// The current state.
        found: &'static str,
        /// The legal moves in the current state.
        legal: String,
    },
    /// The machine has waited longer than allowed.
    #[error(
        "{id} has waited for {age_ms} ms, the limit is {limit_ms} ms; cancel it, or resume it \
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
    /// The action of the key was already completed.
    #[error("this was already done by {by}; it is not done twice")]
    AlreadyDone {
        /// The execution that completed it.
        by: Id,
    },
    /// Another execution holds the key.
    #[error(
        "{by} holds the idempotency key of this action; wait until it ends, or settle it if it is \
         in doubt"
    )]
    KeyHeld {
        /// The execution that holds the key.
        by: Id,
    },
    /// Another action uses the same key.
    #[error("{by} uses the same key for another action; use one key per action")]
    KeyReused {
        /// The other execution.
        by: Id,
    },
    /// The execution waits for a confirmation that has not completed.
    #[error(
        "{id} waits for the confirmation {gate}, which is {}; answer it first",
        status.definition().label
    )]
    Deferred {
        /// The execution.
        id: Id,
        /// Its confirmation.
        gate: Id,
        /// The status of the confirmation.
        status: Status,
    },
    /// The confirmation was refused, so the execution never runs.
    #[error(
        "{id} never runs: its confirmation {gate} is {}; defer the action again to ask again",
        status.definition().label
    )]
    NeverRuns {
        /// The execution.
        id: Id,
        /// Its confirmation.
        gate: Id,
        /// The terminal status of the confirmation.
        status: Status,
    },
    /// The confirmation is for another action.
    #[error("{gate} does not confirm the action of {id}, but another one; ask for this action")]
    OtherAction {
        /// The execution.
        id: Id,
        /// The confirmation.
        gate: Id,
    },
    /// The action is not irreversible.
    #[error("{id} is not irreversible and needs no permit; call `start` and `commit`")]
    NeedsNoPermit {
        /// The execution.
        id: Id,
    },
    /// The outcome belongs to another execution.
    #[error("the outcome belongs to {of}, not to {id}; settle it with {of}")]
    OtherOutcome {
        /// The execution to settle.
        id: Id,
        /// The execution of the outcome.
        of: Id,
    },
    /// The worker was fenced while its call was in flight. Its evidence was kept as late and changes
    /// no state.
    #[error("{id} was fenced while its call was in flight; the outcome is kept as late evidence")]
    Fenced {
        /// The execution.
        id: Id,
    },
    /// It is unknown whether the action took place.
    #[error(
        "{id} is in doubt; find out whether the action took place, then call `confirm_applied` or \
         `confirm_not_applied`"
    )]
    InDoubt {
        /// The execution.
        id: Id,
    },
    /// The execution is not in doubt.
    #[error("{id} is not in doubt; there is nothing to confirm")]
    NotInDoubt {
        /// The execution.
        id: Id,
    },

    /// The store's thread has ended.
    #[error("the store has stopped; open it again")]
    Stopped,
    /// Any other error of SQLite.
    #[error("SQLite: {0}; nothing was written")]
    Sqlite(#[source] rusqlite::Error),
    /// The lock file of the worker cannot be used.
    #[error("cannot use a lock file next to the database: {0}; make its folder writable")]
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
