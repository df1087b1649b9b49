// EX-2: RUNNING cannot `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Running};

fn resume(running: Execution<Running>, by: &GraphRunner) {
    let _ = running.resume(by);
}

fn main() {}
