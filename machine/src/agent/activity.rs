use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;

use super::{ActiveTurn, Agent, AgentId, CallTarget, TurnId, Work};
use crate::worker::{Failure, Task};

/// The current activity of a turn, as its worker reports it.
#[allow(missing_docs, reason = "the names of the fields say enough")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "activity", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activity {
    /// Its agent runs.
    Thinking,
    /// Its agent runs a tool by itself, which only the agent can report. The calls of a step are
    /// executions, which have their own events.
    ExecutingTool { current_tool: String },
    /// It makes the calls of an answer, and waits for their results.
    AwaitingToolResult { waiting_tool_count: usize },
}

/// An agent that reports its activity to a function. These signals are best effort: no batch and no
/// journal has them, a lost signal is not repeated, and nothing depends on them. The function must
/// return at once, so send to a non-blocking channel; if the function panics, the turn continues.
///
/// ```
/// use machine::agent::{Agent, Driver, Signalling};
///
/// fn driver<A: Agent>(agent: A) -> Driver<impl Agent> {
///     Driver(Signalling(agent, |agent, turn, activity| println!("{agent} {turn}: {activity:?}")))
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Signalling<A, F>(pub A, pub F)
where
    F: Fn(&AgentId, TurnId, Activity);

impl<A, F> Agent for Signalling<A, F>
where
    A: Agent,
    F: Fn(&AgentId, TurnId, Activity) + Send + Sync + 'static,
{
    async fn run(&self, agent: &AgentId, turn: &ActiveTurn, task: &Task) -> Result<Work, Failure> {
        let Self(inner, tell) = self;
        let signal = |activity| {
            drop(catch_unwind(AssertUnwindSafe(|| tell(agent, turn.id, activity))));
        };
        signal(Activity::Thinking);
        let work = inner.run(agent, turn, task).await?;
        if let Work::Call(answer) = &work {
            let made = |target: &CallTarget| {
                !matches!(target, CallTarget::Submit(_) | CallTarget::Closed(_))
            };
            let waiting_tool_count = answer.calls.iter().filter(|call| made(&call.target)).count();
            if waiting_tool_count > 0 {
                signal(Activity::AwaitingToolResult { waiting_tool_count });
            }
        }
        Ok(work)
    }
}
