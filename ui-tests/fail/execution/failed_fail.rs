// EX-2: FAILED is terminal, so it cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn fail(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.fail("no route to host".to_owned(), by);
}

fn main() {}
