// EX-2: COMPLETED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn timeout(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.timeout(by);
}

fn main() {}
