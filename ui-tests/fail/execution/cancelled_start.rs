// EX-2: CANCELLED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Cancelled};

fn start(cancelled: Execution<Cancelled>) {
    let _ = cancelled.start(&ToolNode);
}

fn main() {}
