// EX-2: FAILED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn timeout(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.timeout(by);
}

fn main() {}
