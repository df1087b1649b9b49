// EX-2: COMPLETED is terminal, so it cannot `cancel`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn cancel(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.cancel("given up".to_owned(), by);
}

fn main() {}
