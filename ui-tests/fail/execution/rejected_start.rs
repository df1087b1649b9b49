// EX-2: REJECTED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Rejected};

fn start(rejected: Execution<Rejected>, by: &ToolNode) {
    let _ = rejected.start(by);
}

fn main() {}
