// EX-2: REJECTED is terminal, so it cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Rejected};

fn suspend(rejected: Execution<Rejected>, by: &ToolNode) {
    let _ = rejected.suspend("Send it?".to_owned(), by);
}

fn main() {}
