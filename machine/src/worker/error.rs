use crate::{
    effects::EffectError,
    store::{Check, Unavailable},
};

/// The reason why a worker did not start, or stopped.
#[derive(thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
pub enum WorkerError {
    /// It cannot read machines, or arguments of calls, that it is to drive.
    #[error(
        "this worker cannot read all machines of its kinds; it was not started, and no machine was changed\n{check}"
    )]
    Incompatible {
        /// The check that failed.
        check: Box<Check>,
    },
    /// The lock file that shows other processes that this one is alive cannot be made.
    #[error("cannot make a lock file next to the database: {0}")]
    Lock(String),
    /// A tool makes other keys than those that are stored.
    #[error(transparent)]
    Effect(#[from] EffectError),
    /// The store is closed, or cannot be written at the start.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}
