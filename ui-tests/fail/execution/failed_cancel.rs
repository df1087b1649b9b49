// EX-2: FAILED is terminal, so it cannot `cancel`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn cancel(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.cancel("given up".to_owned(), by);
}

fn main() {}
