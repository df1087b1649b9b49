// EX-2: WAITING cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn succeed(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.succeed("sent".to_owned(), by);
}

fn main() {}
