// EX-2: REJECTED is terminal, so it cannot `cancel`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn cancel(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.cancel("given up".to_owned(), by);
}

fn main() {}
