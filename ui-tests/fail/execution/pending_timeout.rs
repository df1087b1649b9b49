// EX-2: PENDING cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn timeout(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.timeout(by);
}

fn main() {}
