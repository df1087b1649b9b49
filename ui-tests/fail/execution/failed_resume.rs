// EX-2: FAILED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn resume(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.resume(by);
}

fn main() {}
