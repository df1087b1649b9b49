// EX-2: COMPLETED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn resume(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.resume(by);
}

fn main() {}
