// EX-2: PENDING cannot `cancel`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn cancel(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.cancel("given up".to_owned(), by);
}

fn main() {}
