// EX-2: CANCELLED is terminal, so it cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn fail(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.fail("no route to host".to_owned(), by);
}

fn main() {}
