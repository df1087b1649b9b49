// EX-2: FAILED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn reject(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.reject("not allowed".to_owned(), by);
}

fn main() {}
