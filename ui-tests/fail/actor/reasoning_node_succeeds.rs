// EX-4: a reasoning node cannot report success.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Running};

fn succeed(running: Execution<Running>) {
    let _ = running.succeed("sent".to_owned(), &ReasoningNode);
}

fn main() {}
