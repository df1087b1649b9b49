//! The nearest cause why a machine has not moved on.

use serde::Serialize;

use super::{ChildView, Detail, NextStep, undriven::Need};
use crate::clock::Millis;
use crate::view::{Audience, Label};

/// The nearest cause why a machine has not moved on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Waiting {
    /// The kind of the cause.
    pub cause: WaitingFor,
    /// The cause in words, which continue "it waits for".
    pub text: String,
    /// When that is due (milliseconds since the Unix epoch, by the clock of the store).
    pub until: Option<Millis>,
}

/// What a machine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, crate::ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WaitingFor {
    /// Nothing: no worker, person, child or deadline can move it.
    Nothing,
    /// A machine that it has started.
    Child,
    /// A worker that has a handler or a tool which no live worker has.
    NoWorker,
    /// The report of its service, which has accepted the call.
    Service,
    /// A person.
    Person,
    /// The end of its call, which a worker is making.
    Call,
    /// Its deadline.
    Deadline,
    /// A live worker, which makes the next move.
    Worker,
    /// Its program: no worker, person or deadline makes the next move.
    Program,
}

const WORKER: &str = "a worker, which makes the next move";
const PROGRAM: &str = "its program, which makes the next move";
const WITHOUT_WORKER: &str =
    "its program, which makes the next move: no worker has ever opened this file";

/// Why a machine that nothing can move stands still, and what to do about it, for operators; the
/// repair of its program is in [`Cause::Stuck`](crate::store::Cause::Stuck).
pub(super) const STUCK: &str = "its handler waits, but it has no open call or child, no deadline, no message, and no \
                                move for a person; report this to its developers, and requeue it when they have \
                                changed its program";

impl<A: Audience> Detail<A> {
    /// `None` if it has ended. `need` is the need of a worker, if it is for a worker to make the
    /// next move; `is_stuck` is true if nothing can move it, apart from a child that came later.
    pub(super) fn waiting(&self, need: Option<&Need>, is_stuck: bool) -> Option<Waiting> {
        if self.machine.is_terminal {
            return None;
        }
        let of = |cause, text, until| Some(Waiting { cause, text, until });
        let by = |cause, text: &str, until| of(cause, text.to_owned(), until);
        // While a child is open, this is set only if a worker has something else to do.
        if let Some(missing) = &self.missing {
            return of(WaitingFor::NoWorker, missing.clone(), None);
        }
        if let Some(child) = self.children.iter().find(|child| !child.has_ended) {
            return of(WaitingFor::Child, about(child), None);
        }
        if is_stuck {
            return of(WaitingFor::Nothing, format!("nothing: {STUCK}"), None);
        }
        let execution = self.execution.as_ref();
        let answer_by = execution.and_then(|execution| execution.answer_by);
        if execution.is_some_and(|execution| execution.waits_for_service) {
            return by(
                WaitingFor::Service,
                "the report of its service, which has accepted it",
                answer_by,
            );
        }
        if let Some(gate) = &self.gate {
            let text = format!("a person, who answers its gate {}", gate.id);
            return of(WaitingFor::Person, text, gate.expires_at);
        }
        if let Some(need) = need {
            let retry_at = self.trouble.as_ref().and_then(|trouble| trouble.retry_at);
            return if need.has_workers {
                by(WaitingFor::Worker, WORKER, retry_at)
            } else {
                by(WaitingFor::Program, WITHOUT_WORKER, retry_at)
            };
        }
        if execution.is_some_and(|execution| execution.label == Label::InProgress) {
            return by(WaitingFor::Call, "the end of its call, which is under way", None);
        }
        let mut moves: Vec<_> = self.next.iter().filter_map(name).collect();
        moves.dedup();
        if !moves.is_empty() {
            let text = format!("a person, who can {}", moves.join(", "));
            return of(WaitingFor::Person, text, answer_by.or(self.machine.due_at));
        }
        match self.machine.due_at {
            due_at @ Some(_) => by(WaitingFor::Deadline, "its deadline", due_at),
            None => by(WaitingFor::Program, PROGRAM, None),
        }
    }
}

fn about(child: &ChildView) -> String {
    let about = match &child.open {
        Some(open) => format!("{}, {}", open.summary, open.label),
        None => child.status.clone(),
    };
    format!("its child {}: {about}", child.id)
}

/// A move that a person can make: the trigger, or the command.
fn name(step: &NextStep) -> Option<String> {
    let command = step.to_string();
    let name = match step {
        NextStep::Show { .. } => None,
        NextStep::SendEvent { trigger, .. } => Some(trigger.as_str()),
        _ => command.split(' ').next(),
    };
    name.map(|name| format!("`{name}`"))
}
