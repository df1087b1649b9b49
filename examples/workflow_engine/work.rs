use std::time::Duration;

use machine::{
    Id,
    contract::ToolCall,
    worker::{OwnCall, OwnCallsError, Task},
};
use serde::{Deserialize, Serialize};

use crate::{condition::ExecutingCondition, plan::Plan};

/// The engine's own data about a task while it works on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The record of the task, which is also the session of its calls.
    pub record: Id,
    /// The time limit of the task, people's answers included.
    pub limit: Duration,
    /// The steps that are still to be done, as the agent said last.
    pub plan: Plan,
    /// What is done with the first of them.
    pub ready: Ready,
    /// The tools of the steps that are done.
    pub done: Vec<String>,
}

pub type TaskCall = OwnCall<ToolCall>;

/// What is done with a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Ready {
    /// There is none: a person resumed before there was a plan.
    #[default]
    Nothing,
    Call(ToolCall),
    /// A person has to see it first, and then this is done.
    Ask(ExecutingCondition, String, Box<Ready>),
    /// It cannot be done.
    GiveUp(String),
}

impl Ready {
    /// The call, if nothing is in its way.
    pub fn call(self) -> Option<ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }
}

impl Work {
    pub fn new(record: Id, limit: Duration) -> Self {
        Self { record, limit, plan: Plan::default(), ready: Ready::Nothing, done: Vec::new() }
    }

    pub fn session(&self) -> String {
        self.record.to_string()
    }

    /// The calls of the task, oldest first; the engine has made those of earlier tasks, too.
    pub async fn calls(&self, task: &mut Task) -> Result<Vec<TaskCall>, OwnCallsError> {
        task.calls::<ToolCall>().of_session(self.session()).await
    }

    /// Without a plan.
    pub fn unplanned(self) -> Self {
        Self { plan: Plan::default(), ready: Ready::Nothing, ..self }
    }
}

/// A line for each call, for people.
pub fn history(calls: &[TaskCall]) -> Vec<String> {
    let told = |call: &TaskCall| {
        let summary = call.execution.context().summary();
        match &call.outcome {
            None => format!("{summary}: under way"),
            Some(Ok(result)) => format!("{summary}: {result}"),
            Some(Err(error)) => format!("{summary}: failed: {error}"),
        }
    };
    calls.iter().map(told).collect()
}

/// The newest result of a tool.
pub fn result_of(calls: &[TaskCall], tool: &str) -> Option<String> {
    let is_it = |call: &&TaskCall| call.arguments.action().tool_name().as_deref() == Some(tool);
    calls.iter().rev().filter(is_it).find_map(|call| call.outcome.as_ref()?.as_ref().ok().cloned())
}

/// A list with one more item.
pub fn and(mut list: Vec<String>, item: String) -> Vec<String> {
    list.push(item);
    list
}
