// EX-2: FAILED is terminal, so it cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Failed};

fn suspend(failed: Execution<Failed>) {
    let _ = failed.suspend("Send it?".to_owned(), &ToolNode);
}

fn main() {}
