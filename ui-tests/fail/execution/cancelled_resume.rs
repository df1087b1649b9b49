// EX-2: CANCELLED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn resume(cancelled: Execution<Cancelled>) {
    let _ = cancelled.resume(&GraphRunner);
}

fn main() {}
