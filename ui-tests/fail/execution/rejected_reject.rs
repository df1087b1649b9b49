// EX-2: REJECTED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn reject(rejected: Execution<Rejected>) {
    let _ = rejected.reject("not allowed".to_owned(), &GraphRunner);
}

fn main() {}
