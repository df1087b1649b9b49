// EX-2: nothing leaves CANCELLED, not even `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Cancelled};

fn suspend(cancelled: Execution<Cancelled>) {
    let _ = cancelled.suspend("Send it?".to_owned(), &ToolNode);
}

fn main() {}
