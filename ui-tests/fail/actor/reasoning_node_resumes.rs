// EX-4: a reasoner cannot resume what waits for a person.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Waiting};

fn resume(waiting: Execution<Waiting>) {
    let _ = waiting.resume(&ReasoningNode);
}

fn main() {}
