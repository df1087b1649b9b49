use crate::{
    clock::Millis,
    contract::{InvalidContract, Process, execution::Status},
    effects::Done,
    id::Id,
    store::{
        backend::Rejected,
        error::{LoadError, Unavailable},
        integrity::check::Check,
    },
    stored::Breach,
};

/// Why a batch was not written. Nothing of it was, except for late evidence with
/// [`Fenced`](Self::Fenced), and unless [`Unavailable::is_indeterminate`]. All machines are as they
/// were.
#[derive(thiserror::Error)]
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
    /// A message of the batch has the correlation id of another one.
    #[error(
        "{id} has another message with the correlation id `{correlation}`; nothing was written; use \
         another id for this one"
    )]
    OtherMessage {
        /// The machine that the message is for.
        id: Id,
        /// The correlation id.
        correlation: String,
    },
    /// The machine is in a terminal state.
    #[error("{id} has ended, so it gets no more children; nothing was written")]
    Ended {
        /// The machine.
        id: Id,
    },
    /// The execution to repeat is a child of a machine that would not see the new attempt.
    #[error(
        "{id} is a child of {parent}, which decides what follows and would not see another attempt; nothing \
         was written; move {parent} on, or let its handler repeat the call as another child"
    )]
    OfParent {
        /// The execution that failed.
        id: Id,
        /// Its parent.
        parent: Id,
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
    /// A worker that starts cannot read machines, or arguments of calls, that it is to drive.
    #[error(
        "this worker cannot read all that it drives; it was not started, and nothing was changed\n{check}"
    )]
    Incompatible {
        /// The check that failed.
        check: Box<Check>,
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
        "{by} holds the key that {id} needs; nothing was written; wait until {by} has ended or has released \
         the key; if it is a call whose process has ended, call `recover` and settle it"
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
    /// The records of the key of a machine were changed by hand, so that it is unknown whether the
    /// key is free.
    #[error(
        "the attempts at the key of {id} cannot be trusted: {reason}; find out whether the action took \
         place; to do it again on purpose, plan it with an `occurrence`, which has a key of its own; a \
         backup forgets the keys that were used since it was made"
    )]
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
    /// A person declined the action, and it was not approved since.
    #[error(
        "{by} declined at {gate} what {id} would do, and nobody has approved it since; ask a person \
         with `Contract::ask`, or let one retry it"
    )]
    Declined {
        /// The execution.
        id: Id,
        /// The gate that was declined.
        gate: Id,
        /// The name of the person.
        by: String,
        /// When (milliseconds since the Unix epoch, by the clock of the store).
        at: Millis,
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
    /// The gate asks for something else than what waits behind it.
    #[error("{id} cannot be answered: {reason}; `cancel {id}` ends it; ask again")]
    GateChanged {
        /// The gate.
        id: Id,
        /// A description of the change.
        reason: String,
    },
    /// Another execution has done what the gate asks for.
    #[error(
        "{id} can no longer be approved: {done}; `cancel {id}` ends it; to do it again on purpose, plan the \
         action with an `occurrence`"
    )]
    GateDone {
        /// The gate.
        id: Id,
        /// The execution that completed the action.
        done: Done,
    },
    /// The digest of an approval is not that of the whole question of the gate.
    #[error(
        "{id} is not approved: a part of its question was not shown, or it is not this question; read its \
         whole question, and approve with the digest of that"
    )]
    NotShown {
        /// The gate.
        id: Id,
    },
    /// The question has not been answered yet.
    #[error("nobody has answered {id} yet; store an answer with `respond` first")]
    Unanswered {
        /// The execution.
        id: Id,
    },
    /// The execution must not be resumed.
    #[error(transparent)]
    NotResumed {
        /// Why not.
        source: Box<LoadError>,
    },
    /// The gate was already answered.
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
    /// A call may still be running.
    #[error(
        "the call of {id} may still be running{} and can take effect; wait until it has ended, or \
         override by name", in_process(process.as_ref())
    )]
    WorkerAlive {
        /// The execution.
        id: Id,
        /// The process of the call.
        process: Option<Process>,
    },
    /// A call was cut off in a process that is still running.
    #[error(
        "the call of {id} was cut off{} and can still take effect; restart that process and answer \
         then, or override by name", in_process(process.as_ref())
    )]
    CutOff {
        /// The execution.
        id: Id,
        /// The process of the call.
        process: Option<Process>,
    },
    /// It is unknown whether the worker of a call has ended.
    #[error(
        "it is unknown whether the worker of {id} has ended, because its lock file is missing, a \
         copy, or of another host; make sure that it has, and override by name"
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
        /// The remaining time, in milliseconds.
        left_ms: u64,
    },
    /// The execution was not interrupted, or is irreversible.
    #[error("{id} is not an interrupted idempotent call; `recover` lists those")]
    NotInterrupted {
        /// The execution.
        id: Id,
    },
    /// An action that is known to be irreversible in this store was declared idempotent.
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
    /// The tool has an identity in this store and the contract was made without one, or the other
    /// way round: the same action would get two keys.
    #[error(
        "the keys of `{tool}` are made {} in this store, and that of {id} is made {}; register the \
         tool like the program that used it first, or give it another METHOD: a new name has keys of \
         its own",
        if *identity { "from its identity" } else { "from all arguments, without an identity" },
        if *identity { "from all arguments, without an identity" } else { "from an identity" }
    )]
    IdentityChanged {
        /// The execution.
        id: Id,
        /// The tool.
        tool: String,
        /// `true` if the tool has an identity in this store.
        identity: bool,
    },
    /// The tool derives another key from the arguments of an earlier execution than when that was
    /// planned: the same action would get two keys.
    #[error(
        "`{tool}` has another identity in this program than in the one that planned {by}: stored is \
         {stored}, and this program makes {made}; use the same `Tool::identity`, without time, \
         environment or random numbers, or give the tool another METHOD: a new name has keys of its own"
    )]
    OtherIdentity {
        /// The tool.
        tool: String,
        /// The earlier execution.
        by: Id,
        /// Its identity and its key, as they are stored.
        stored: String,
        /// The identity and the key that this program makes of its arguments.
        made: String,
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
    /// A dependency of the execution, such as its gate, cannot be read.
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

impl CommitError {
    /// Returns `true` if the storage failed, and may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unavailable(error) => !error.is_stopped(),
            Self::Unsettled { source, .. } => source.may_pass(),
            _ => false,
        }
    }

    /// Returns `true` if the store was closed.
    #[cfg(feature = "worker")]
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Unavailable(error) => error.is_stopped(),
            Self::Unsettled { source, .. } => source.is_closed(),
            _ => false,
        }
    }
}

/// The process of a call, as a part of a sentence.
fn in_process(process: Option<&Process>) -> String {
    process.map(|process| format!(" in {process}")).unwrap_or_default()
}

impl From<Rejected> for CommitError {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::Conflict(id) => Self::Conflict { id },
            Rejected::NotFound(id) => Self::NotFound { id },
            Rejected::AlreadyStored(id) => Self::AlreadyStored { id },
            Rejected::AlreadyDone { id, by } => Self::AlreadyDone { id, by },
            Rejected::KeyHeld { id, by } => Self::KeyHeld { id, by },
            Rejected::KeyReused { id, by } => Self::KeyReused { id, by },
            Rejected::BrokenAttempt { id, reason } => Self::BrokenAttempt { id, reason },
            Rejected::ApprovalExpired { id, gate, at } => Self::ApprovalExpired { id, gate, at },
            Rejected::Ended(id) => Self::Ended { id },
            Rejected::Refused { id, .. } => Self::LeaseLost { id },
            Rejected::OtherMessage { id, correlation } => Self::OtherMessage { id, correlation },
            Rejected::EffectLowered { id, what } => Self::EffectLowered { id, what },
            Rejected::IdentityChanged { id, tool, identity } => {
                Self::IdentityChanged { id, tool, identity }
            }
        }
    }
}
