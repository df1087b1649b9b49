// EX-2: COMPLETED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Completed};

fn start(completed: Execution<Completed>, by: &ToolNode) {
    let _ = completed.start(by);
}

fn main() {}
