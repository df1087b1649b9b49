// EX-2: REJECTED is terminal, so it cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn resume(rejected: Execution<Rejected>) {
    let _ = rejected.resume(&GraphRunner);
}

fn main() {}
