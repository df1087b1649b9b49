// EX-2: PENDING cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn fail(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.fail("no route to host".to_owned(), by);
}

fn main() {}
