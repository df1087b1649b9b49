use crate::{id::Id, stored::Breach};

/// Why the store refuses to write a machine. Nothing was written. The machine is as it was.
#[derive(Clone, PartialEq, Eq, thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum CommitError {
    /// Another commit changed the machine first.
    #[error("{id} was changed by another commit; nothing was written; reload it")]
    Conflict { id: Id },
    /// No machine has this id.
    #[error("no machine {id} in this store; nothing was written; `create` stores a new one")]
    NotFound { id: Id },
    /// A machine with this id is already stored.
    #[error("{id} is already stored; use `commit` to write its changes")]
    AlreadyStored { id: Id },
    /// The machine takes over, or drops, a call of another machine: the file was edited.
    #[error(
        "{id} is not a child of {parent}, so {parent} cannot take it over; nothing was written; call \
         `verify_all`"
    )]
    NotChild { id: Id, parent: Id },
    /// A requirement on another machine is not, or no longer, met.
    #[error("{id} requires {machine} in another state; nothing was written; load both again")]
    Unmet { id: Id, machine: Id },
    /// The machine was never stored.
    #[error("{id} was never stored; `create` it first")]
    NeverStored { id: Id },
    /// The machine was loaded from another store.
    #[error(
        "{id} belongs to another store; commit it there, or move it with `export`, `verify` and `create`"
    )]
    OtherStore { id: Id },
    /// The rules of the machine's context forbid this history.
    #[error("{id}: {breach}")]
    Refused { id: Id, breach: Breach },
    /// A state, a payload or a context cannot be written as JSON that can be read back.
    #[error("{id} cannot be stored: {reason}; nothing was written")]
    Unwritable { id: Id, reason: String },
    /// A field of a state, or a context, would be read back as another value.
    #[error(
        "{} of {id} would be read back as another value; nothing was written; make `Deserialize` read what \
         `Serialize` writes, or write `#[lossy]` on a field that may change",
        part(.state, .field.as_deref())
    )]
    Altered { id: Id, state: String, field: Option<String> },
    /// The action of the key was already completed.
    #[error(
        "{by} has already performed the action of {id}; plan it with an `occurrence` to repeat \
         it on purpose"
    )]
    AlreadyDone { id: Id, by: Id },
    /// Another machine holds the key.
    #[error(
        "{by} holds the key that {id} needs; nothing was written; wait until {by} has ended or has released \
         the key; if it is a call whose process has ended, call `recover` and settle it"
    )]
    KeyHeld { id: Id, by: Id },
    /// Another action uses the same key.
    #[error("{by} uses the key of {id} for another action; use one key per action")]
    KeyReused { id: Id, by: Id },
    /// An irreversible call of the state has begun, or its outcome waits in the inbox: if the
    /// machine left now, its state could contradict that outcome.
    #[error(
        "{id} cannot leave its state now: the call {call} is under way, or its outcome was not taken yet; \
         nothing was written; wait for it, or write `detach` on the transition"
    )]
    UnderWay { id: Id, call: Id },
    /// A person retries an action of which another attempt is open or newer.
    #[error(
        "{by} is another attempt at the action of {id}; nothing was written; wait until it has ended, and \
         retry the newest attempt if it failed"
    )]
    OtherAttempt { id: Id, by: Id },
    /// The records of the key of a machine were changed by hand, so that it is unknown whether the
    /// key is free.
    #[error(
        "the attempts at the key of {id} cannot be trusted: {reason}; check whether the action took \
         effect; to repeat it on purpose, plan it with an `occurrence`, which has a separate key; a backup \
         lacks the keys that were used after it was made"
    )]
    BrokenAttempt { id: Id, reason: String },
}

/// A part of the stored data, in words.
fn part(state: &str, field: Option<&str>) -> String {
    field.map_or_else(
        || "the context".to_owned(),
        |field| format!("the field `{field}` of the state `{state}`"),
    )
}
