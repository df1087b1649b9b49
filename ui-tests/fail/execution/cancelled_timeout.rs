// EX-2: CANCELLED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn timeout(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.timeout(by);
}

fn main() {}
