// EX-2: COMPLETED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn reject(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.reject("not allowed".to_owned(), by);
}

fn main() {}
