// EX-4: a tool may cancel what runs, but not what waits for a person.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn cancel(waiting: Execution<Waiting>) {
    let _ = waiting.cancel("given up".to_owned(), &ToolNode);
}

fn main() {}
