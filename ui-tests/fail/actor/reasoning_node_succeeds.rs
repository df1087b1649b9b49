// A reasoning node cannot report success.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, execution::Running};

fn succeed(running: Execution<Running>, by: &ReasoningNode) {
    let _ = running.succeed("sent".to_owned(), by);
}

fn main() {}
