// EX-2: PENDING cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn reject(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.reject("not allowed".to_owned(), by);
}

fn main() {}
