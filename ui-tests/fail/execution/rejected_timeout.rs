// EX-2: REJECTED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn timeout(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.timeout(by);
}

fn main() {}
