// EX-2: REJECTED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn reject(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.reject("not allowed".to_owned(), by);
}

fn main() {}
