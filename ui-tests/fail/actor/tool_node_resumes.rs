// Only the graph runner resumes.

use machine::actor::ToolNode;
use machine::contract::{Execution, execution::Waiting};

fn resume(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.resume(by);
}

fn main() {}
