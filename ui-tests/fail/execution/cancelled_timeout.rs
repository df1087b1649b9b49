// EX-2: CANCELLED is terminal, so it cannot `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn timeout(cancelled: Execution<Cancelled>) {
    let _ = cancelled.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
