// EX-4: a reasoning node decides what to do; it does not start the execution.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Pending};

fn start(pending: Execution<Pending>) {
    let _ = pending.start(&ReasoningNode);
}

fn main() {}
