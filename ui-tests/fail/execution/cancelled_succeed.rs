// EX-2: CANCELLED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn succeed(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.succeed("sent".to_owned(), by);
}

fn main() {}
