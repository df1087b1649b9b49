// EX-2: FAILED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn resume(failed: Execution<Failed>) {
    let _ = failed.resume(&GraphRunner);
}

fn main() {}
