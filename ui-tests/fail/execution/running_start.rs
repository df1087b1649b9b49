// EX-2: RUNNING cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Running};

fn start(running: Execution<Running>) {
    let _ = running.start(&ToolNode);
}

fn main() {}
