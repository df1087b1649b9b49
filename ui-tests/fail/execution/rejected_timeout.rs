// EX-2: REJECTED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn timeout(rejected: Execution<Rejected>) {
    let _ = rejected.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
