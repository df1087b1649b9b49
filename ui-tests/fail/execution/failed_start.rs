// EX-2: FAILED is terminal, so it cannot `start`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Failed};

fn start(failed: Execution<Failed>, by: &ToolNode) {
    let _ = failed.start(by);
}

fn main() {}
