// EX-2: COMPLETED is terminal, so it cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn fail(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.fail("no route to host".to_owned(), by);
}

fn main() {}
