use crate::{
    clock::{Millis, length},
    contract::{InvalidContract, execution::Status},
    effects::{Done, error::StateError},
    id::Id,
    process::Process,
    store::error::{CommitError, LoadError, Unavailable},
};

/// Why a batch, a call or an answer was not written. Nothing was written, except late evidence with
/// [`Fenced`](Self::Fenced), and unless the storage is
/// [`Indeterminate`](Unavailable::Indeterminate). All machines are unchanged. Times are by the
/// clock of the store.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum EffectError {
    /// The store refuses the commit.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The storage cannot do it now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A machine is in the batch twice.
    #[error("{id} is in the batch twice; commit it once, with all of its changes")]
    Twice { id: Id },
    /// Another worker has taken over the machine, or its lease ended.
    #[error("lost the lease on {id} to another worker; nothing was written; stop")]
    LeaseLost { id: Id },
    /// A message of the batch has the correlation id of another message.
    #[error(
        "{id} has another message with the correlation id `{correlation}`; nothing was written; use \
         another id for this one"
    )]
    OtherMessage { id: Id, correlation: String },
    /// A message of the batch is for a machine whose inbox is full: 10,000 queued messages.
    #[error(
        "the inbox of {id} is full: {queued} messages are queued; nothing was written; find out why the \
         machine does not take them, for example with `show`, and send the message again when it has"
    )]
    InboxFull { id: Id, queued: u32 },
    /// The machine is in a terminal state.
    #[error("{id} has ended, so it can have no more children; nothing was written")]
    Ended { id: Id },
    /// The execution to repeat is a child of a machine that would not see the new attempt.
    #[error(
        "{id} is a child of {parent}, which would not see another attempt; nothing was \
         written; advance {parent}: a new entry into its state makes the call again"
    )]
    OfParent { id: Id, parent: Id },
    /// The batch has an execution as a child of a machine, or is the batch of a handler with an
    /// execution: a call that the table of the machine does not make.
    #[error(
        "the table of the machine does not make the call {id}; nothing was written; a state makes calls with \
         `#[invoke]`, and `Store::perform` runs one without a machine"
    )]
    CallByHand { id: Id },
    /// The commit enters a state that makes a call, and leaves it again.
    #[error(
        "{id} goes through `{state}`, which makes a call, and leaves it in the same commit; nothing was \
         written; commit the machine in `{state}`, and go on with the outcome"
    )]
    Skipped { id: Id, state: String },
    /// The calls of a state that the machine enters cannot be made.
    #[error(
        "the calls of `{state}` cannot be made: {reason}; {id} did not enter it; nothing was written"
    )]
    NotInvoked { id: Id, state: String, reason: String },
    /// The execution waits for a gate that was not answered.
    #[error(
        "{id} waits for the gate {gate}, which is {}; answer it first",
        status.definition().label
    )]
    Deferred { id: Id, gate: Id, status: Status },
    /// The gate was declined, withdrawn or expired, so the execution never runs.
    #[error(
        "{id} never runs: its gate {gate} is {}; cancel it, and ask again with a new execution",
        status.definition().label
    )]
    NeverRuns { id: Id, gate: Id, status: Status },
    /// The machine has left the state that made the call, so the call never runs. Of an approval,
    /// `id` is the gate.
    #[error(
        "{parent} has left the state that made the call, so it never runs; nothing was written; `cancel {id}` ends it"
    )]
    StateLeft { id: Id, parent: Id },
    /// A person declined the action, and it was not approved since.
    #[error(
        "{by} declined the action of {id} at {gate}, and no person has approved it since; ask a person \
         with `Contract::ask`, or let one retry it"
    )]
    Declined { id: Id, gate: Id, by: String, at: Millis },
    /// The gate was not approved by a person.
    #[error("{gate} was completed without an approval, so {id} may not run; ask again")]
    NotApproved { id: Id, gate: Id },
    /// The approval was given, and was not used in time.
    #[error("the approval {gate} of {id} has expired; ask again")]
    ApprovalExpired { id: Id, gate: Id, at: Millis },
    /// The gate can no longer be answered.
    #[error("{id} has expired and can no longer be answered; ask again")]
    GateExpired { id: Id, at: Millis },
    /// The gate can still be answered.
    #[error("{id} has not expired; it can still be answered, or withdrawn")]
    NotDue { id: Id },
    /// The gate was withdrawn, or it expired.
    #[error("{id} can no longer be answered: it is {found}; ask again")]
    GateEnded { id: Id, found: String },
    /// The gate asks for another action than the one that waits behind it.
    #[error("{id} cannot be answered: {reason}; `cancel {id} --as NAME` ends it; ask again")]
    GateChanged { id: Id, reason: String },
    /// Another execution has performed the action of the gate.
    #[error(
        "{id} can no longer be approved: {done}; `cancel {id} --as NAME` ends it; to repeat it on purpose, plan \
         the action with an `occurrence`"
    )]
    GateDone { id: Id, done: Done },
    /// The digest of an approval is not that of the whole question of the gate.
    #[error(
        "{id} is not approved: its question was not shown as a whole, or has a different digest; read \
         the whole question, and approve with its digest"
    )]
    NotShown { id: Id },
    /// The question has not been answered yet.
    #[error("{id} has no answer yet; store one with `respond` first")]
    Unanswered { id: Id },
    /// The execution must not be resumed.
    #[error(transparent)]
    NotResumed { source: Box<StateError> },
    /// The gate was already answered.
    #[error("{id} was already {} by {by}; nothing was changed", if *approved { "approved" } else { "declined" })]
    AlreadyDecided { id: Id, approved: bool, by: String, at: Millis },
    /// A call may still be running.
    #[error(
        "the call of {id} may still be running{} and can take effect; wait until it has ended, \
         or override", in_process(process.as_ref())
    )]
    WorkerAlive { id: Id, process: Option<Process> },
    /// A call was cut off in a process that is still running.
    #[error(
        "the call of {id} was cut off{} and can still take effect; restart that process and \
         answer then, or override", in_process(process.as_ref())
    )]
    CutOff { id: Id, process: Option<Process> },
    /// It is unknown whether the worker of a call has ended.
    #[error(
        "it is unknown whether the worker of {id} has ended, because its lock file is missing, \
         copied, or from another host; make sure that it has, and override"
    )]
    WorkerUnknown { id: Id },
    /// The call can still take effect.
    #[error(
        "the call of {id} can still take effect: by the clock of the store, the settling time of its tool is over in \
         {}; wait, or override",
        length(left_ms.saturating_add(999))
    )]
    NotSettled { id: Id, left_ms: u64 },
    /// The execution was not interrupted, or is irreversible.
    #[error("{id} is not an interrupted idempotent call; `recover` lists those")]
    NotInterrupted { id: Id },
    /// An action that is known to be irreversible in this store was declared idempotent.
    #[error(
        "{what} is irreversible in this store, but the contract of {id} says otherwise; register the \
         tool as irreversible, and plan the action again"
    )]
    EffectLowered { id: Id, what: String },
    /// The tool has an identity in this store and the contract was made without one, or vice versa:
    /// the same action would get two keys.
    #[error(
        "this store derives the keys of `{tool}` {}, but the key of {id} is derived {}; register the \
         tool as in the program that used it first, or give it another METHOD: a new name has \
         separate keys",
        if *identity { "from its identity" } else { "from all arguments, without an identity" },
        if *identity { "from all arguments, without an identity" } else { "from an identity" }
    )]
    IdentityChanged {
        id: Id,
        tool: String,
        /// `true` if the tool has an identity in this store.
        identity: bool,
    },
    /// From the arguments of an earlier execution, the tool derives another key than the stored
    /// one: the same action would get two keys.
    #[error(
        "`{tool}` has a different identity in this program than in the one that planned {by}: \
         stored is {stored}, this program derives {made}; use the same `Tool::identity`, without \
         time, environment or random numbers, or give the tool another METHOD: a new name has separate keys"
    )]
    OtherIdentity { tool: String, by: Id, stored: String, made: String },
    /// The execution was not made by this program.
    #[error(
        "{id} was read from data, so it could begin in several stores or without an approval; \
         plan the action here"
    )]
    Imported { id: Id },
    /// The contract does not fit the tool.
    #[error("{id}: {source}")]
    Contract { id: Id, source: InvalidContract },
    /// The gate is for another execution or another action.
    #[error("{gate} is not for {id} and its action; ask for this action")]
    OtherAction { id: Id, gate: Id },
    /// A dependency of the execution, such as its gate, cannot be read.
    #[class]
    #[error("a machine that {id} depends on cannot be read: {source}")]
    Gate { id: Id, source: Box<StateError> },
    /// The outcome belongs to another execution.
    #[error("the outcome belongs to {of}, not to {id}; settle it with {of}")]
    OtherOutcome { id: Id, of: Id },
    /// The worker was fenced while its call was in flight. Its evidence was kept as late and
    /// changes no state.
    #[error("{id} was fenced while its call was in flight; the outcome is kept as late evidence")]
    Fenced { id: Id },
    /// The outcome of an irreversible call is not on disk yet.
    #[class]
    #[error("the outcome of {id} is not on disk: {source}; settle it again. At stake: {at_stake}")]
    Unsettled {
        id: Id,
        /// The receipt, or the reason why there is none.
        at_stake: String,
        source: Box<EffectError>,
    },
    /// Cannot create the lock file that shows other processes that this one is alive.
    #[error("cannot make a lock file next to the database: {0}")]
    Lock(String),
}

impl EffectError {
    /// A dependency of an execution was not read.
    pub(crate) fn unread(id: Id, error: impl Into<StateError>) -> Self {
        match error.into() {
            StateError::Load(LoadError::Unavailable(error)) => error.into(),
            error => Self::Gate { id, source: Box::new(error) },
        }
    }

    /// Returns `true` if another commit came first: load the machine again.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Commit(CommitError::Conflict { .. }))
    }

    /// The failure of the storage that ended the operation.
    pub(crate) fn unavailable(&self) -> Option<&Unavailable> {
        match self {
            Self::Unavailable(error) => Some(error),
            Self::Unsettled { source, .. } => source.unavailable(),
            _ => None,
        }
    }
}

/// The process of a call, as a part of a sentence.
fn in_process(process: Option<&Process>) -> String {
    process.map(|process| format!(" in {process}")).unwrap_or_default()
}
