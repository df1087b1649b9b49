// EX-2: PENDING cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn resume(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.resume(by);
}

fn main() {}
