// A reasoning node decides what to do; it does not start the execution.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Pending};

fn start(pending: Execution<Pending>, by: &ReasoningNode) {
    let _ = pending.start(by);
}

fn main() {}
