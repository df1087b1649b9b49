// EX-2: RUNNING cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Running};

fn timeout(running: Execution<Running>) {
    let _ = running.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
