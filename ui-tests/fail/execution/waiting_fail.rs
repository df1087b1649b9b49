// EX-2: WAITING cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn fail(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.fail("no route to host".to_owned(), by);
}

fn main() {}
