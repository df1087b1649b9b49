//! Turns of agents that are delivered as soon as they run.

use machine::{
    agent::{self, ActiveTurn, Agent, AgentId, BoxId, Deliverable, NewTurn, Terms, TurnId, Work},
    worker::{Failure, Task},
};

pub struct Clerk;

impl Agent for Clerk {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        Ok(Deliverable::Done("x".repeat(256).into()).into())
    }
}

/// The turn with this number, of all turns of a file. All turns of an agent write to one box.
pub fn turn(agent: &AgentId, number: usize) -> NewTurn {
    let id = format!("01890a5d-ac96-774b-8000-{number:012x}").parse().unwrap();
    let task = agent::Task {
        context_box: BoxId(id),
        context_cards: 0,
        output_box: BoxId(agent.head()),
        trace: id,
        terms: Terms::default(),
    };
    NewTurn { id: TurnId(id), agent: agent.clone(), task }
}
