// EX-2: nothing leaves FAILED, not even `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn resume(failed: Execution<Failed>) {
    let _ = failed.resume(&GraphRunner);
}

fn main() {}
