// EX-4: a reasoning node cannot resume an execution that waits for a person.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Waiting};

fn resume(waiting: Execution<Waiting>) {
    let _ = waiting.resume(&ReasoningNode);
}

fn main() {}
