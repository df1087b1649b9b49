//! The agents, and their tasks.

use machine::{
    agent::{AgentId, BoxId, Limits, MemberId, Task, Terms, TurnId},
    clock::Millis,
};

/// Hands each of its turns to the others.
pub const PLANNER: &str = "planner";
/// Asks a server that never answers.
pub const SCOUT: &str = "scout";
/// Looks for a file that is not there.
pub const CLERK: &str = "clerk";
/// Counts words in a child process, which takes its time.
pub const COUNTER: &str = "counter";

/// The agents that the planner calls, in the order of its calls.
pub const OTHERS: [&str; 3] = [SCOUT, CLERK, COUNTER];

pub fn agent(name: &str) -> AgentId {
    AgentId(name.to_owned())
}

/// The box that the turns of an agent write to. It has the id of the agent's head.
pub fn output(agent: &AgentId) -> BoxId {
    BoxId(agent.head())
}

/// The task of an agent in a turn of the planner, with a limit of its time in milliseconds. Its
/// context box is empty: the input is in the script.
pub fn task(agent: &AgentId, planned: TurnId, time_ms: Option<Millis>) -> Task {
    let limits = Limits { time_ms, ..Limits::default() };
    Task {
        context_box: BoxId(planned.0),
        context_cards: 0,
        output_box: output(agent),
        trace: planned.0,
        terms: Terms { limits, ..Terms::default() },
    }
}

/// A turn of the planner, and those that it delegates in its first step.
pub fn turns_of(planned: TurnId) -> Vec<(&'static str, TurnId)> {
    let delegated = |index| MemberId { turn: planned, step: 1, index }.delegated();
    let others = OTHERS.into_iter().zip((0..).map(delegated));
    [(PLANNER, planned)].into_iter().chain(others).collect()
}
