// Actors that may not make a move. Functions are named after the mistakes.

use machine::actor::{Actor, Category, ReasoningNode, ToolNode};
use machine::contract::{Execution, execution::*};
use machine::machine;

struct Approver;

impl Actor for Approver {
    const KIND: &'static str = "approver";
    const CATEGORY: Category = Category::Human;
}

struct Author;

impl Actor for Author {
    const KIND: &'static str = "author";
    const CATEGORY: Category = Category::Human;
}

#[machine]
enum Invoice {
    #[initial]
    #[on(approve(note) => Approved, by = Approver)]
    Draft,

    #[terminal]
    Approved { note: String },
}

// A restricted transition takes its actor as an argument.
fn actor_missing(pending: Execution<Pending>) {
    let _ = pending.start();
}

// The actor comes after the payload.
fn actor_missing_after_the_payload(draft: Invoice<invoice::Draft>) {
    let _ = draft.approve("paid twice".to_owned());
}

// User-defined actors follow the rules of the library's actors.
fn user_defined_actor(draft: Invoice<invoice::Draft>) {
    let _ = draft.approve("paid twice".to_owned(), &Author);
}

// A reasoning node decides what to do; it does not start the execution.
fn reasoning_node_starts(pending: Execution<Pending>, by: &ReasoningNode) {
    let _ = pending.start(by);
}

// A reasoning node cannot report success.
fn reasoning_node_succeeds(running: Execution<Running>, by: &ReasoningNode) {
    let _ = running.succeed("sent".to_owned(), by);
}

// A reasoning node cannot resume an execution that waits for a person.
fn reasoning_node_resumes(waiting: Execution<Waiting>, by: &ReasoningNode) {
    let _ = waiting.resume(by);
}

// Only the graph runner resumes.
fn tool_node_resumes(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.resume(by);
}

// A tool node may cancel a running execution, but not one that waits for a person.
fn tool_node_cancels_waiting(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.cancel("given up".to_owned(), by);
}

fn main() {}
