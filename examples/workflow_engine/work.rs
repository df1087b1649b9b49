use std::time::Duration;

use machine::Id;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;

/// The engine's own data about a task while it works on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The record of the task, which is also the session of its calls.
    pub record: Id,
    /// The time limit of the task, people's answers included.
    pub limit: Duration,
    /// The steps that are still to be done, as the agent said last.
    pub plan: Plan,
    /// Rises with each step and with each pause, so that every call belongs to one turn, and the attempts of a
    /// turn can be counted.
    pub turn: u32,
    /// The first turn of the step.
    pub step: u32,
}

impl Work {
    /// The work on a new task.
    pub fn new(record: Id, limit: Duration) -> Self {
        Self { record, limit, plan: Plan::default(), turn: 0, step: 0 }
    }

    /// The session of the calls of the task.
    pub fn session(&self) -> String {
        self.record.to_string()
    }

    /// With another plan, whose first step is a new turn.
    pub fn with(self, plan: Plan) -> Self {
        let work = self.next_turn();
        Self { plan, step: work.turn, ..work }
    }

    /// Without a plan: what the agent said does not count any more.
    pub fn without_plan(self) -> Self {
        self.with(Plan::default())
    }

    /// Repeats the step in a new turn.
    pub fn next_turn(self) -> Self {
        Self { turn: self.turn + 1, ..self }
    }

    /// The plan without its first step.
    pub fn step_done(mut self) -> Self {
        self.plan.steps.drain(..1.min(self.plan.steps.len()));
        self
    }

    /// Why the time is up, for people: without the limit, which is for developers.
    #[allow(clippy::unused_self, reason = "the machine asks its data")]
    pub fn out_of_time(&self) -> String {
        "the time limit has passed".to_owned()
    }
}

/// A list with one more item.
pub fn and(mut list: Vec<String>, item: String) -> Vec<String> {
    list.push(item);
    list
}
