// EX-2: REJECTED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Rejected};

fn start(rejected: Execution<Rejected>) {
    let _ = rejected.start(&ToolNode);
}

fn main() {}
