// EX-2: nothing leaves REJECTED, not even `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Rejected};

fn suspend(rejected: Execution<Rejected>) {
    let _ = rejected.suspend("Send it?".to_owned(), &ToolNode);
}

fn main() {}
