// Only a transition writes to the journal.

use machine::contract::{Execution, execution::Running};
use machine::journal::Fact;

fn forge(running: &mut Execution<Running>) {
    let fact = Fact::Moved {
        from: "running".into(),
        to: "completed".into(),
        trigger: "succeed".into(),
        payload: serde_json::Map::new(),
        deadlines: Vec::new(),
    };
    running.journal().append(None, fact);
}

fn main() {}
