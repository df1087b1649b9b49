// EX-2: REJECTED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn succeed(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.succeed("sent".to_owned(), by);
}

fn main() {}
