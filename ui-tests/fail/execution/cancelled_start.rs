// EX-2: CANCELLED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Cancelled};

fn start(cancelled: Execution<Cancelled>, by: &ToolNode) {
    let _ = cancelled.start(by);
}

fn main() {}
