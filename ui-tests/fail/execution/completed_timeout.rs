// EX-2: COMPLETED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn timeout(completed: Execution<Completed>) {
    let _ = completed.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
