// EX-2: WAITING cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn reject(waiting: Execution<Waiting>) {
    let _ = waiting.reject("not allowed".to_owned(), &GraphRunner);
}

fn main() {}
