// EX-2: COMPLETED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Completed};

fn start(completed: Execution<Completed>) {
    let _ = completed.start(&ToolNode);
}

fn main() {}
