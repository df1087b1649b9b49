// EX-2: nothing leaves REJECTED, not even `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Rejected};

fn start(rejected: Execution<Rejected>) {
    let _ = rejected.start(&ToolNode);
}

fn main() {}
