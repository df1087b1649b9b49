// EX-2: RUNNING cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Running};

fn start(running: Execution<Running>, by: &ToolNode) {
    let _ = running.start(by);
}

fn main() {}
