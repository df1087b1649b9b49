// EX-2: WAITING cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn reject(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.reject("not allowed".to_owned(), by);
}

fn main() {}
