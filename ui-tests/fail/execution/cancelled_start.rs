// EX-2: nothing leaves CANCELLED, not even `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Cancelled};

fn start(cancelled: Execution<Cancelled>) {
    let _ = cancelled.start(&ToolNode);
}

fn main() {}
