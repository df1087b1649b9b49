// EX-4: who decides what should happen does not make it happen.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Pending};

fn start(pending: Execution<Pending>) {
    let _ = pending.start(&ReasoningNode);
}

fn main() {}
