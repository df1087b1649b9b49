// EX-2: nothing leaves COMPLETED, not even `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Completed};

fn suspend(completed: Execution<Completed>) {
    let _ = completed.suspend("Send it?".to_owned(), &ToolNode);
}

fn main() {}
