// EX-2: CANCELLED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn resume(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.resume(by);
}

fn main() {}
