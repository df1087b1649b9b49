// A transition consumes the machine, so nothing can be started twice.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Pending};

fn start_twice(pending: Execution<Pending>, by: &ToolNode) {
    let _running = pending.start(by);
    let _again = pending.start(by);
}

fn main() {}
