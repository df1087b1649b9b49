// EX-2: nothing leaves FAILED, not even `suspend`.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Failed};

fn suspend(failed: Execution<Failed>) {
    let _ = failed.suspend("Send it?".to_owned(), &ToolNode);
}

fn main() {}
