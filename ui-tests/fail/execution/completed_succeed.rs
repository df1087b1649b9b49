// EX-2: COMPLETED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Completed};

fn succeed(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.succeed("sent".to_owned(), by);
}

fn main() {}
