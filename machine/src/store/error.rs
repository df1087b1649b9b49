use super::Unavailable;
use crate::{
    contract::execution::Status,
    id::Id,
    stored::{Breach, VerifyError},
};

/// Why a machine was not loaded. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No machine has this id.
    #[error("there is no machine {id} in this store; `list` shows those that there are")]
    NotFound {
        /// The id.
        id: Id,
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
        position: super::Position,
        /// The newest position.
        newest: super::Position,
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
        /// How long it has waited, in milliseconds.
        age_ms: u64,
        /// The limit, in milliseconds.
        limit_ms: u64,
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
    /// Another execution has completed the action.
    #[error("{by} has already done what {id} would do; cancel {id}")]
    AlreadyDone {
        /// The execution to resume.
        id: Id,
        /// The execution that completed the action.
        by: Id,
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
    /// The lock file of a worker cannot be read, so that nobody knows whether the worker is alive.
    #[error("cannot read the lock file of a worker next to the database: {0}; make it readable")]
    Lock(String),
    /// The storage cannot be read now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why a batch was not written. Nothing of it was, except for late evidence with
/// [`Fenced`](Self::Fenced), and unless [`Unavailable::is_indeterminate`]. All machines are as they
/// were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another commit changed the machine first.
    #[error("{id} was changed by another commit; nothing was written; load it again")]
    Conflict {
        /// The machine.
        id: Id,
    },
    /// No machine has this id.
    #[error(
        "there is no machine {id} in this store; nothing was written; `create` stores a new one"
    )]
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
    /// The machine was loaded from another store.
    #[error(
        "{id} is of another store; commit it there, or move it with `export`, `verify` and `create`"
    )]
    OtherStore {
        /// The machine.
        id: Id,
    },
    /// A machine is in the batch twice.
    #[error("{id} is in the batch twice; commit it once, with all of its changes")]
    Twice {
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
    /// A state, a payload or a context cannot be written as JSON that can be read back.
    #[error("{id} cannot be written as JSON: {reason}; fix its `Serialize` implementation")]
    Unwritable {
        /// The machine.
        id: Id,
        /// The problem.
        reason: String,
    },
    /// The storage cannot write now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),

    // Irreversible actions.
    /// The action of the key was already completed.
    #[error("{by} has already done what {id} would do; it is not done twice")]
    AlreadyDone {
        /// The refused machine.
        id: Id,
        /// The execution that completed the action.
        by: Id,
    },
    /// Another machine holds the key.
    #[error(
        "{by} holds the idempotency key that {id} needs; wait until it ends, or settle it if it is \
         in doubt"
    )]
    KeyHeld {
        /// The refused machine.
        id: Id,
        /// The machine that holds the key.
        by: Id,
    },
    /// Another action uses the same key.
    #[error("{by} uses the key of {id} for another action; use one key per action")]
    KeyReused {
        /// The refused machine.
        id: Id,
        /// The other machine.
        by: Id,
    },
    /// What is stored about the key of a machine was changed by hand, so that nobody knows whether
    /// the key is free.
    #[error("the attempts at the key of {id} cannot be trusted: {reason}; restore a backup")]
    BrokenAttempt {
        /// The refused machine.
        id: Id,
        /// The first problem.
        reason: String,
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
    /// The confirmation cannot be read.
    #[error("the confirmation of {id} cannot be read: {source}")]
    Gate {
        /// The execution.
        id: Id,
        /// Why not.
        source: Box<LoadError>,
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
    /// The outcome of an irreversible call is not on disk yet.
    #[error("the outcome of {id} is not on disk: {source}; settle it again. At stake: {at_stake}")]
    Unsettled {
        /// The execution.
        id: Id,
        /// The receipt, or the reason why there is none.
        at_stake: String,
        /// Why it is not on disk.
        source: Box<CommitError>,
    },
    /// The lock file that shows other processes that this one is alive cannot be made.
    #[error("cannot make a lock file next to the database: {0}; make its folder writable")]
    Lock(String),
}
