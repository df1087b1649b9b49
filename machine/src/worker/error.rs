use crate::{
    effects::EffectError,
    store::{Check, Unavailable},
};

/// The reason why a worker did not start, or stopped.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
pub enum WorkerError {
    /// The worker cannot read stored machines of its kinds, or arguments of calls of its tools.
    #[error(
        "this worker cannot read all machines of its kinds; it was not started, and no machine was changed\n{check}"
    )]
    Incompatible {
        /// The check that failed.
        check: Box<Check>,
    },
    /// Cannot create the lock file that shows other processes that this one is alive.
    #[error("cannot make a lock file next to the database: {0}")]
    Lock(String),
    /// The keys of a tool differ from the stored ones.
    #[error(transparent)]
    Effect(#[from] EffectError),
    /// The store is closed, or cannot be written at the start.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}
