// EX-2: WAITING cannot `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn succeed(waiting: Execution<Waiting>) {
    let _ = waiting.succeed("sent".to_owned(), &GraphRunner);
}

fn main() {}
