// EX-2: PENDING cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Pending};

fn suspend(pending: Execution<Pending>, by: &ToolNode) {
    let _ = pending.suspend("Send it?".to_owned(), by);
}

fn main() {}
