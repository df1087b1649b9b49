//! Scenarios of a task, as data: each scenario is run against a real store.

use std::fs;

use machine::worker::Failure;
use serde_json::Value;

use crate::{
    agent::{Brief, Reply},
    plan::{Plan, ProposedCall, Step},
    submit::Submitted,
    world::World,
};

/// A step with a tool, its arguments, and what it changes.
pub type Line = (&'static str, &'static [(&'static str, &'static str)], Option<&'static str>);

pub enum Says {
    Plan(&'static [Line]),
    Cannot,
    IsDown,
}

/// The action of a person when nothing is ready.
#[derive(Debug, Clone)]
pub enum Act {
    Send(&'static str, Value),
    /// The time limit passes.
    Wait,
    /// Sends it before the engine begins.
    First(&'static str, Value),
}

pub struct Scenario {
    pub goal: &'static str,
    /// The agent's answers at first, and once it has instructions.
    pub says: (Says, Says),
    /// The failures of the mail server.
    pub down: &'static str,
    pub acts: Vec<Act>,
}

pub const MAIL: Line = ("mail.send", &[("to", "bob"), ("text", "hello")], None);
pub const TO_ALL: Line = ("mail.send", &[("to", "everyone"), ("text", "hello")], None);
pub const PAY: Line = ("bank.pay", &[("to", "bob"), ("amount", "{{files.read}}")], None);
pub const READ: Line = ("files.read", &[("path", "note.txt")], None);
pub const DELETE: Line = ("files.delete", &[("path", "{{files.read}}")], None);
pub const STEAL: Line = ("files.delete", &[("path", "../secrets")], None);
pub const COURIER: Line = ("courier.send", &[], None);
pub const DRAFT: Line = ("site.publish", &[("page", "news"), ("text", "draft")], Some("news"));
pub const FINAL: Line = ("site.publish", &[("page", "news"), ("text", "final")], Some("news"));

pub fn plan(lines: &[Line]) -> Plan {
    let step = |&(tool, arguments, changes): &Line| Step {
        title: "do it".to_owned(),
        call: ProposedCall::new(tool, arguments),
        changes: changes.map(str::to_owned),
    };
    Plan { reasoning: "it seems right".to_owned(), steps: lines.iter().map(step).collect() }
}

/// A world whose agent plans these steps, with a note for the first of them.
pub fn planned(steps: &'static [Line], note: &str) -> World {
    let world = World::new(move |brief| Says::Plan(steps).reply(brief));
    fs::write(world.path("note.txt"), note).unwrap();
    world
}

impl Says {
    /// The answer to a brief: without the steps that are done.
    pub fn reply(&self, brief: &Brief) -> Result<Reply<Plan>, Failure> {
        match self {
            Self::Plan(lines) => Ok(Reply::Can(plan(lines.get(brief.done.len()..).unwrap_or(&[])))),
            Self::Cannot => Ok(Reply::Cannot("no idea".to_owned())),
            Self::IsDown => Err("the model is down".into()),
        }
    }
}

/// A scenario that was run.
pub struct Ran {
    pub world: World,
    pub task: Submitted,
    pub moves: Vec<(String, String, String)>,
}

impl Scenario {
    pub async fn run(self) -> Ran {
        let (first, later) = self.says;
        let world = World::new(move |brief| {
            if brief.instructions.is_empty() { first.reply(brief) } else { later.reply(brief) }
        });
        fs::write(world.path("note.txt"), "500").unwrap();
        fs::write(world.path("mail.down"), self.down).unwrap();
        let task = world.submit(self.goal).await;
        for act in &self.acts {
            if let Act::First(trigger, payload) = act {
                world.say(task, trigger, payload.clone()).await;
            }
        }
        world.work().await;
        for act in &self.acts {
            match act {
                Act::Send(trigger, payload) => world.say(task, trigger, payload.clone()).await,
                Act::Wait => world.wait().await,
                Act::First(..) => continue,
            }
            world.work().await;
        }
        let moves = world.moves(task).await;
        Ran { world, task, moves }
    }
}
