use crate::{
    clock::Millis,
    contract::InvalidContract,
    effects::{Done, error::EffectError},
    id::Id,
    store::error::LoadError,
};

/// Why an execution is not in the state that an operation needs. Nothing was changed.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum StateError {
    /// The machine was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The machine is not in the requested state.
    #[error("{id} is {found}, not {expected}; {legal}")]
    OtherState { id: Id, expected: &'static str, found: &'static str, legal: String },
    /// The machine has waited longer than allowed.
    #[error(
        "{id} has waited for {age_ms} ms, the limit is {limit_ms} ms; cancel it, or resume it \
         without a limit"
    )]
    Expired { id: Id, age_ms: u64, limit_ms: u64 },
    /// The contract does not fit the tool.
    #[error("{id}: {source}")]
    Contract { id: Id, source: Box<InvalidContract> },
    /// The machine is not a gate that waits for an answer.
    #[error(
        "{id} is not a gate that waits for an answer: it is {found}; `list` shows those that do"
    )]
    NotAGate { id: Id, found: String },
    /// The machine is not a question that waits for an answer.
    #[error("{id} is not a question that waits for an answer: it is {found}")]
    NotAQuestion { id: Id, found: String },
    /// The gate was answered before.
    #[error("{id} was {} by {by}; it needs no further answer", if *approved { "approved" } else { "declined" })]
    AlreadyDecided { id: Id, approved: bool, by: String, at: Millis },
    /// Nothing irreversible is being called.
    #[error(
        "{id} is {found}, and is not an irreversible call in flight, so there is no worker to fence; \
         `perform_again` takes an idempotent call over"
    )]
    NotRunning { id: Id, found: String },
    /// It is unknown whether the action took effect.
    #[error(
        "{id} is in doubt; check whether the action took effect, then call `confirm_applied` or \
         `confirm_not_applied`"
    )]
    InDoubt { id: Id },
    /// The service of the execution has accepted the call, and has not reported yet.
    #[error(
        "{id} waits for the report of its service, which has accepted the call; `report` settles it"
    )]
    AwaitsReport { id: Id },
    /// The execution is not in doubt.
    #[error("{id} is not in doubt; there is nothing to confirm")]
    NotInDoubt { id: Id },
    /// Another execution has completed the action.
    #[error("{id} cannot be resumed: {done}; cancel {id}")]
    AlreadyDone {
        /// The execution to resume, or a gate in front of it.
        id: Id,
        done: Done,
    },
    /// An execution in doubt cannot be parked.
    #[class]
    #[error("{id} is in doubt and cannot be parked: {source}")]
    NotParked { id: Id, source: Box<EffectError> },
    /// The lock file of a worker cannot be read, so that it is unknown whether the worker is alive.
    #[error("cannot read the lock file of a worker next to the database: {0}; make it readable")]
    Lock(String),
}
