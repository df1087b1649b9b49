//! Drives machines: polls for ready ones, runs their handlers, commits the transitions.
//!
//! Any number of workers in any number of processes can drive the machines of one store.
//!
//! | to | see |
//! |---|---|
//! | run machines | [`Worker`]: takes handlers and services, and runs until it is stopped |
//! | | [`Running`]: a worker that runs in the background |
//! | write a handler | [`Task`]: the context of a handler: actors, children, messages, earlier calls |
//! | | [`Handled`]: what a handler returns: a [`Next`], or a [`Failure`] |
//! | | [`Handler`]: one handler for all states, or for all machines |
//! | report failures | [`FailedAttempt`]: the argument of [`Worker::on_error`] |
//! | | [`WorkerError`]: why a worker did not start, or stopped |

mod adopt;
mod calls;
mod crew;
mod error;
mod executions;
mod failed_attempt;
mod handler;
mod job;
mod lease;
mod own_calls;
mod parent;
mod serve;
mod settings;
mod shared;
#[cfg(test)]
mod simulation;
mod take;
mod task;
mod tools;
mod until;
#[allow(clippy::module_inception, reason = "it is the main type")]
mod worker;

pub use error::WorkerError;
pub use failed_attempt::FailedAttempt;
pub use handler::{Driven, Failure, Handled, Handler, Next, SelfDriven};
pub use own_calls::{OwnCall, OwnCalls, OwnCallsError};
pub use task::Task;
pub use until::Running;
pub use worker::Worker;
