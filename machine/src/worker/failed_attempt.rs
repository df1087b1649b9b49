use std::fmt;

use crate::{id::Id, store::Cause};

/// A failed attempt at a machine; or a machine that nothing can move, with the cause
/// [`Stuck`](Cause::Stuck), or a call whose tool is missing, with [`NoTool`](Cause::NoTool); see
/// [`Worker::on_error`](super::Worker::on_error).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedAttempt<'a> {
    /// The machine.
    pub id: Id,
    /// Its kind, such as `order`.
    pub kind: &'static str,
    /// The name of its state; `None` if it cannot be read.
    pub state: Option<&'static str>,
    /// The step that was tried: `state` for the handler, `deadline` or `message`.
    pub step: &'static str,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The kind of the failure, without data.
    pub cause: Cause,
    /// The error with its sources, in the words of the program, which may repeat data.
    pub error: &'a str,
    /// The work is not tried again until a person requeues it.
    pub set_aside: bool,
}

impl fmt::Display for FailedAttempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, kind, step, attempt, error, .. } = self;
        let state = self.state.unwrap_or("an unknown state");
        if matches!(self.cause, Cause::Stuck | Cause::NoTool) {
            return write!(f, "{kind} {id} in {state}: {error}");
        }
        let end = if self.set_aside { "; it is set aside" } else { "" };
        write!(f, "{kind} {id} in {state}: attempt {attempt} at its {step} failed: {error}{end}")
    }
}
