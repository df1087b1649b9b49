// EX-2: CANCELLED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn reject(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.reject("not allowed".to_owned(), by);
}

fn main() {}
