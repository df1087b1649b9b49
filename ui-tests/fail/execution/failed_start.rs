// EX-2: nothing leaves FAILED, not even `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Failed};

fn start(failed: Execution<Failed>) {
    let _ = failed.start(&ToolNode);
}

fn main() {}
