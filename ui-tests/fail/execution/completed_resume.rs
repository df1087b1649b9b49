// EX-2: nothing leaves COMPLETED, not even `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn resume(completed: Execution<Completed>) {
    let _ = completed.resume(&GraphRunner);
}

fn main() {}
