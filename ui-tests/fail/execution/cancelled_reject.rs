// EX-2: CANCELLED is terminal, so it cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn reject(cancelled: Execution<Cancelled>) {
    let _ = cancelled.reject("not allowed".to_owned(), &GraphRunner);
}

fn main() {}
