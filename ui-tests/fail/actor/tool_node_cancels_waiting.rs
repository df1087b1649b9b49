// A tool node may cancel a running execution, but not one that waits for a person.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn cancel(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.cancel("given up".to_owned(), by);
}

fn main() {}
