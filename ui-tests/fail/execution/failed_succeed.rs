// EX-2: FAILED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn succeed(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.succeed("sent".to_owned(), by);
}

fn main() {}
