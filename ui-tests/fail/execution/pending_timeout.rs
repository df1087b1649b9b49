// EX-2: PENDING cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn timeout(pending: Execution<Pending>) {
    let _ = pending.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
