// EX-2: REJECTED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn succeed(rejected: Execution<Rejected>) {
    let _ = rejected.succeed("sent".to_owned(), &GraphRunner);
}

fn main() {}
