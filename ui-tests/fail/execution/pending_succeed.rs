// EX-2: PENDING cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Pending};

fn succeed(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.succeed("sent".to_owned(), by);
}

fn main() {}
