// EX-2: CANCELLED is terminal, so it cannot `cancel`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn cancel(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.cancel("given up".to_owned(), by);
}

fn main() {}
