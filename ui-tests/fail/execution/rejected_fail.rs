// EX-2: REJECTED is terminal, so it cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn fail(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.fail("no route to host".to_owned(), by);
}

fn main() {}
