// A reasoning node cannot resume an execution that waits for a person.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Waiting};

fn resume(waiting: Execution<Waiting>, by: &ReasoningNode) {
    let _ = waiting.resume(by);
}

fn main() {}
