// EX-2: WAITING cannot `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn fail(waiting: Execution<Waiting>) {
    let _ = waiting.fail("no route to host".to_owned(), &GraphRunner);
}

fn main() {}
