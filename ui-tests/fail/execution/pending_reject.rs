// EX-2: PENDING cannot `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn reject(pending: Execution<Pending>) {
    let _ = pending.reject("not allowed".to_owned(), &GraphRunner);
}

fn main() {}
