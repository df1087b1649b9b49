use std::future::Future;

use machine::worker::Failure;

use crate::plan::Plan;

/// Decides on the next steps. Implement it for a model: put the [`Brief`] into the prompt, and
/// parse the answer into a [`Plan`]. Its answers have no effect until they are checked.
///
/// An error means that it cannot be asked now; the worker asks again later.
pub trait Agent: Send + Sync + 'static {
    /// Looks at a new task: whether it is one that the agent can do at all.
    fn accept(&self, goal: &str) -> impl Future<Output = Result<Reply<()>, Failure>> + Send;

    /// Returns the next steps, and why. It is asked again after each step, and whenever a person
    /// has changed the task.
    fn plan(&self, brief: &Brief) -> impl Future<Output = Result<Reply<Plan>, Failure>> + Send;
}

/// The answer of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    Can(T),
    /// It cannot do this task, for this reason.
    Cannot(String),
}

/// All that an agent knows of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    pub goal: String,
    /// Instructions that people added, oldest first.
    pub instructions: Vec<String>,
    /// The calls that have ended, a line for each, which the output of a tool cannot forge.
    pub history: Vec<String>,
    /// The tools that have succeeded, in order.
    pub done: Vec<String>,
    /// The available tools.
    pub tools: Vec<String>,
}
