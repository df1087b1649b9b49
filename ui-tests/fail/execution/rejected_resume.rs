// EX-2: nothing leaves REJECTED, not even `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn resume(rejected: Execution<Rejected>) {
    let _ = rejected.resume(&GraphRunner);
}

fn main() {}
