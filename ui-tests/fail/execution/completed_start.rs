// EX-2: nothing leaves COMPLETED, not even `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Completed};

fn start(completed: Execution<Completed>) {
    let _ = completed.start(&ToolNode);
}

fn main() {}
