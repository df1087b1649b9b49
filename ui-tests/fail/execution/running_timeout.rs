// EX-2: RUNNING cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Running};

fn timeout(running: Execution<Running>, by: &GraphRunner) {
    let _ = running.timeout(by);
}

fn main() {}
