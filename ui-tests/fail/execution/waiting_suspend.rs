// EX-2: WAITING cannot `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn suspend(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.suspend("Send it?".to_owned(), by);
}

fn main() {}
