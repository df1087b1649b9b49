// EX-2: WAITING cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn start(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.start(by);
}

fn main() {}
