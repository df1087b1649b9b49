use super::{LoadError, Unavailable};
use crate::{
    clock::Millis,
    contract::{InvalidContract, execution::Status},
    id::Id,
    stored::Breach,
};

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
    /// Another worker has taken over the machine, or its lease ended.
    #[error("the lease on {id} is lost: another worker goes on; nothing was written; stop")]
    LeaseLost {
        /// The machine.
        id: Id,
    },
    /// The machine is in a terminal state.
    #[error("{id} has ended, so it gets no more children; nothing was written")]
    Ended {
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
    #[error(
        "{by} has already done what {id} would do; plan the action with an `occurrence` to do it \
         again on purpose"
    )]
    AlreadyDone {
        /// The refused machine.
        id: Id,
        /// The execution that completed the action.
        by: Id,
    },
    /// Another machine holds the key.
    #[error(
        "{by} holds the idempotency key that {id} needs; wait until it ends, or, if its process \
         ended, call `recover` and settle it"
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
    /// The execution waits for a gate that was not answered.
    #[error(
        "{id} waits for the gate {gate}, which is {}; answer it first",
        status.definition().label
    )]
    Deferred {
        /// The execution.
        id: Id,
        /// Its gate.
        gate: Id,
        /// The status of the gate.
        status: Status,
    },
    /// The gate was declined, withdrawn or expired, so the execution never runs.
    #[error(
        "{id} never runs: its gate {gate} is {}; cancel it, and ask again with a new execution",
        status.definition().label
    )]
    NeverRuns {
        /// The execution.
        id: Id,
        /// Its gate.
        gate: Id,
        /// The terminal status of the gate.
        status: Status,
    },
    /// The gate was not approved by a person.
    #[error("{gate} was completed without an approval, so {id} may not run; ask again")]
    NotApproved {
        /// The execution.
        id: Id,
        /// Its gate.
        gate: Id,
    },
    /// The approval was given, and was not used in time.
    #[error("the approval {gate} of {id} has expired; ask again")]
    ApprovalExpired {
        /// The execution.
        id: Id,
        /// Its gate.
        gate: Id,
        /// When (milliseconds since the Unix epoch, by the clock of the store).
        at: Millis,
    },
    /// The gate can no longer be answered.
    #[error("{id} has expired and can no longer be answered; ask again")]
    GateExpired {
        /// The gate.
        id: Id,
        /// When (milliseconds since the Unix epoch, by the clock of the store).
        at: Millis,
    },
    /// The gate can still be answered.
    #[error("{id} has not expired; it can still be answered, or withdrawn")]
    NotDue {
        /// The gate.
        id: Id,
    },
    /// The gate was withdrawn, or it expired.
    #[error("{id} can no longer be answered: it is {found}; ask again")]
    GateEnded {
        /// The gate.
        id: Id,
        /// Its state, and why.
        found: String,
    },
    /// What waits behind the gate is not what it asks for.
    #[error("{id} cannot be answered: {reason}; `cancel {id}` ends it; ask again")]
    GateChanged {
        /// The gate.
        id: Id,
        /// What has changed.
        reason: String,
    },
    /// Nobody has answered the question yet.
    #[error("nobody has answered {id} yet; store an answer with `respond` first")]
    Unanswered {
        /// The execution.
        id: Id,
    },
    /// Somebody answered the gate first.
    #[error("{id} was already {} by {by}; nothing was changed", if *approved { "approved" } else { "declined" })]
    AlreadyDecided {
        /// The gate.
        id: Id,
        /// The answer.
        approved: bool,
        /// The name of the person.
        by: String,
        /// When (milliseconds since the Unix epoch, by the clock of the store).
        at: Millis,
    },
    /// The worker of a call has not ended.
    #[error(
        "the worker of {id} is alive and may still do it; wait until it has ended, or override by \
         name"
    )]
    WorkerAlive {
        /// The execution.
        id: Id,
    },
    /// Nobody knows whether the worker of a call has ended.
    #[error(
        "nobody knows whether the worker of {id} has ended, because its lock file is missing or of \
         another host; make sure, and override by name"
    )]
    WorkerUnknown {
        /// The execution.
        id: Id,
    },
    /// The call can still take effect.
    #[error(
        "the call of {id} can still take effect for {left_ms} ms (the settling time of its tool); \
         wait, or override by name"
    )]
    NotSettled {
        /// The execution.
        id: Id,
        /// How long, in milliseconds.
        left_ms: u64,
    },
    /// The execution was not interrupted, or is irreversible.
    #[error("{id} is not an interrupted idempotent call; `recover` lists those")]
    NotInterrupted {
        /// The execution.
        id: Id,
    },
    /// What is known to be irreversible in this store was declared idempotent.
    #[error(
        "{what} is irreversible in this store, and the contract of {id} says otherwise; register the \
         tool as irreversible, and plan the action again"
    )]
    EffectLowered {
        /// The execution.
        id: Id,
        /// The tool, or the key.
        what: String,
    },
    /// The execution was not made by this program.
    #[error(
        "{id} was read from data, so it could be begun in several stores, or approved by nobody; \
         plan the action here"
    )]
    Imported {
        /// The execution.
        id: Id,
    },
    /// The contract does not fit the tool.
    #[error("{id}: {source}")]
    Contract {
        /// The execution.
        id: Id,
        /// Why not.
        source: InvalidContract,
    },
    /// The gate is for another execution or another action.
    #[error("{gate} is not for {id} and its action; ask for this one")]
    OtherAction {
        /// The execution.
        id: Id,
        /// The gate.
        gate: Id,
    },
    /// What the execution depends on, such as its gate, cannot be read.
    #[error("what {id} depends on cannot be read: {source}")]
    Gate {
        /// The execution.
        id: Id,
        /// Why not.
        source: Box<LoadError>,
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
