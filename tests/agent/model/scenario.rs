//! Who calls what, and what may go wrong. One world of everything would have too many states.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use machine::agent::{AfterExecution, NewSource, NewTurn, TurnId};

use super::defect::Protocol;
use crate::agent::support::{DEADLINE, new_turn, turn};

pub(super) const AGENTS: [&str; 2] = ["helper", "planner"];
pub(super) const WORKERS: usize = 2;

#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) protocol: Protocol,
    pub(super) turns: &'static [Planned],
    pub(super) budget: Budget,
    /// What has happened in some state.
    pub(super) reached: Arc<Mutex<BTreeSet<Reached>>>,
}

/// A turn that a program wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) agent: usize,
    pub(super) output: u64,
    /// The calls of its first step.
    pub(super) calls: &'static [Wanted],
    /// It is dispatched with its enqueueing.
    pub(super) at_once: bool,
    pub(super) has_limit: bool,
}

/// A call. All but that of a person are overdue when the time has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Execution,
    /// An execution whose result ends the turn.
    Last,
    Outside,
    /// An answer from outside that has no deadline.
    Person,
    /// A call that is not made.
    Denied,
    /// A turn of the other agent, which writes to this box.
    Other(u64),
}

impl Wanted {
    pub(super) fn after(self) -> AfterExecution {
        if self == Self::Last { AfterExecution::Terminate } else { AfterExecution::Suspend }
    }
}

/// What may still happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    /// A worker takes over the turn of another one, which may go on.
    pub(super) takeovers: u8,
    pub(super) crashes: u8,
    pub(super) stops: u8,
    /// The time passes, beyond all deadlines.
    pub(super) ticks: u8,
}

impl Scenario {
    pub(super) fn reach(&self, reached: Reached) {
        self.reached.lock().unwrap().insert(reached);
    }

    pub(super) fn turn(&self, at: usize) -> NewTurn {
        let Planned { agent, output, has_limit, .. } = self.turns[at];
        let mut new = new_turn(AGENTS[agent], number(at), output);
        new.task.terms.limits.time_ms = has_limit.then_some(DEADLINE);
        new
    }

    /// The calls of a turn; none if another one has delegated it.
    pub(super) fn calls(&self, id: TurnId) -> &'static [Wanted] {
        let planned = (0..self.turns.len()).find(|at| turn(number(*at)) == id);
        planned.map_or(&[], |at| self.turns[at].calls)
    }

    /// The agent and the task of a turn that a turn delegates.
    pub(super) fn child(&self, parent: TurnId, output: u64) -> NewSource {
        let at = (0..self.turns.len()).find(|at| turn(number(*at)) == parent).unwrap();
        let NewTurn { agent, task, .. } = new_turn(AGENTS[1 - self.turns[at].agent], 0, output);
        NewSource::Turn { agent, task }
    }
}

fn number(at: usize) -> u64 {
    1 + u64::try_from(at).unwrap()
}

/// What must be reachable, so that the promises mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reached {
    StaleRefused,
    LateRefused,
    TimedOut,
    StoppedInQueue,
    StoppedWhileWaiting,
    /// A call of a stopped turn had ended, and was not reported.
    DeliveredUnreported,
    ChildStopped,
    Denied,
    NeverStarted,
    TimeLimit,
    Terminated,
    Busy,
    BoxRefused,
    Delegated,
}

pub(super) const REACHED: [Reached; 14] = [
    Reached::StaleRefused,
    Reached::LateRefused,
    Reached::TimedOut,
    Reached::StoppedInQueue,
    Reached::StoppedWhileWaiting,
    Reached::DeliveredUnreported,
    Reached::ChildStopped,
    Reached::Denied,
    Reached::NeverStarted,
    Reached::TimeLimit,
    Reached::Terminated,
    Reached::Busy,
    Reached::BoxRefused,
    Reached::Delegated,
];
