// EX-2: CANCELLED is terminal, so it cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Cancelled};

fn suspend(cancelled: Execution<Cancelled>, by: &ToolNode) {
    let _ = cancelled.suspend("Send it?".to_owned(), by);
}

fn main() {}
