use crate::{
    clock::Millis,
    contract::InvalidContract,
    effects::Done,
    id::Id,
    store::{
        error::{CommitError, Unavailable},
        read::{cursor::Cursor, subscribe::Position},
    },
    stored::VerifyError,
};

/// Why a machine was not loaded. Nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No machine has this id.
    #[error("there is no machine {id} in this store; `list` shows those that there are")]
    NotFound {
        /// The id.
        id: Id,
    },
    /// The machine was deleted by [`Store::prune`](crate::store::Store::prune), and its attempt at an
    /// idempotency key is kept. Only views say so: to load it, it is [`NotFound`](Self::NotFound).
    #[error(
        "{id} was pruned, so its history is gone{}",
        if *applied { "; its action took place, and is not done again" } else { "" }
    )]
    Pruned {
        /// The id.
        id: Id,
        /// Its action took effect.
        applied: bool,
    },
    /// The stored machine failed verification, or is incompatible with this program.
    #[error(transparent)]
    Unreadable(#[from] VerifyError),
    /// A journal entry cannot be read.
    #[error("entry {sequence} of the journal cannot be read: {reason}; restore it from a backup")]
    BrokenEntry {
        /// Its sequence number in the store.
        sequence: u64,
        /// The first problem.
        reason: String,
    },
    /// The position is of another generation of the store, or later than its newest entry.
    #[error(
        "the store has no position {position}; the newest is {newest}: was an older copy of the file \
         restored? Read everything again from the start"
    )]
    UnknownPosition {
        /// The given position.
        position: Position,
        /// The newest position.
        newest: Position,
    },
    /// The cursor is of a list in another order.
    #[error(
        "the cursor `{cursor}` is of a list in another order; use the one that the previous page of this \
         list has, or none for the first page"
    )]
    OtherOrder {
        /// The cursor.
        cursor: Cursor,
    },
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
        /// The time for which it has waited, in milliseconds.
        age_ms: u64,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The contract does not fit the tool.
    #[error("{id}: {source}")]
    Contract {
        /// The execution.
        id: Id,
        /// Why not.
        source: Box<InvalidContract>,
    },
    /// The machine is not a gate that waits for an answer.
    #[error(
        "{id} is not a gate that waits for an answer: it is {found}; `list` shows those that do"
    )]
    NotAGate {
        /// The machine.
        id: Id,
        /// Its state.
        found: String,
    },
    /// The machine is not a question that waits for an answer.
    #[error("{id} is not a question that waits for an answer: it is {found}")]
    NotAQuestion {
        /// The machine.
        id: Id,
        /// A description of the machine.
        found: String,
    },
    /// The gate was answered before.
    #[error("{id} was {} by {by}; it needs no further answer", if *approved { "approved" } else { "declined" })]
    AlreadyDecided {
        /// The gate.
        id: Id,
        /// The answer.
        approved: bool,
        /// The name of the person.
        by: String,
        /// When (milliseconds since the Unix epoch).
        at: Millis,
    },
    /// Nothing irreversible is being called.
    #[error(
        "{id} is {found}, and is not an irreversible call in flight, so there is no worker to fence; \
         `perform_again` takes an idempotent call over"
    )]
    NotRunning {
        /// The execution.
        id: Id,
        /// Its state.
        found: String,
    },
    /// It is unknown whether the action took effect.
    #[error(
        "{id} is in doubt; find out whether the action took place, then call `confirm_applied` or \
         `confirm_not_applied`"
    )]
    InDoubt {
        /// The execution.
        id: Id,
    },
    /// The service of the execution has accepted the call, and has not reported yet.
    #[error(
        "{id} waits for the report of its service, which has accepted the call; `report` settles it"
    )]
    AwaitsReport {
        /// The execution.
        id: Id,
    },
    /// The execution is not in doubt.
    #[error("{id} is not in doubt; there is nothing to confirm")]
    NotInDoubt {
        /// The execution.
        id: Id,
    },
    /// Another execution has completed the action.
    #[error("{id} cannot be resumed: {done}; cancel {id}")]
    AlreadyDone {
        /// The execution to resume, or a gate in front of it.
        id: Id,
        /// The execution that completed the action.
        done: Done,
    },
    /// An execution in doubt cannot be parked.
    #[error("{id} is in doubt and cannot be parked: {source}")]
    NotParked {
        /// The execution.
        id: Id,
        /// Why not.
        source: Box<CommitError>,
    },
    /// A row has no id that can be read.
    #[error("a row cannot be read: {reason}; restore it from a backup")]
    BrokenRow {
        /// The first problem.
        reason: String,
    },
    /// The lock file of a worker cannot be read, so that it is unknown whether the worker is alive.
    #[error("cannot read the lock file of a worker next to the database: {0}; make it readable")]
    Lock(String),
    /// The storage cannot be read now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}
