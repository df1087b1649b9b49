// EX-2: FAILED is terminal, so it cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Failed};

fn suspend(failed: Execution<Failed>, by: &ToolNode) {
    let _ = failed.suspend("Send it?".to_owned(), by);
}

fn main() {}
