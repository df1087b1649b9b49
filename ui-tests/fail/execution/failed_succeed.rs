// EX-2: FAILED is terminal, so it cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn succeed(failed: Execution<Failed>) {
    let _ = failed.succeed("sent".to_owned(), &GraphRunner);
}

fn main() {}
