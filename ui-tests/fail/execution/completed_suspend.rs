// EX-2: COMPLETED is terminal, so it cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Completed};

fn suspend(completed: Execution<Completed>, by: &ToolNode) {
    let _ = completed.suspend("Send it?".to_owned(), by);
}

fn main() {}
