// EX-2: REJECTED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn resume(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.resume(by);
}

fn main() {}
