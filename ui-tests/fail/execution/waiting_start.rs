// EX-2: WAITING cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn start(waiting: Execution<Waiting>) {
    let _ = waiting.start(&ToolNode);
}

fn main() {}
