// EX-2: FAILED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn timeout(failed: Execution<Failed>) {
    let _ = failed.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
