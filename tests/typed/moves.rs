//! Typed moves: the data they carry, and what they record.

use machine::{contract::Execution, journal::Fact};
use machine_tests::actors::{ecs_node, graph_runner, tool_node};
use machine_tests::samples::{Ticket, read};

/// Each move records from, to, trigger, payload, actor and time.
#[test]
fn a_move_is_written_down() {
    let execution = Execution::new(read("a.txt")).start(ecs_node());
    let execution = execution.fail("no such file".to_owned(), None, tool_node());
    let entries = execution.journal().uncommitted();
    let actors: Vec<_> = entries.iter().map(|entry| entry.actor.as_deref().unwrap()).collect();
    assert_eq!(actors, ["reasoning", "ecs_node", "tool_node"]);
    let names: Vec<_> = entries.iter().map(|entry| entry.by.as_deref().unwrap()).collect();
    assert_eq!(names, ["test", "test", "test"]);
    assert!(entries.is_sorted_by_key(|entry| entry.at));
    assert!(entries.iter().enumerate().all(|(at, entry)| entry.number == at as u64));
    let Fact::Moved { from, to, trigger, payload, .. } = &entries[2].fact else { panic!() };
    assert_eq!((&**from, &**to, &**trigger), ("running", "failed", "fail"));
    // Without the refusal, which is none.
    assert_eq!(serde_json::to_string(payload).unwrap(), r#"{"error":"no such file"}"#);
}

/// The contract is the same in every state.
#[test]
fn the_contract_is_carried_along() {
    let contract = read("a.txt").session("s1").note("cost", 3);
    let done = Execution::new(contract.clone())
        .start(tool_node())
        .suspend("which one?".to_owned(), graph_runner())
        .resume(graph_runner())
        .reject("none".to_owned(), ecs_node());
    assert_eq!(done.context(), &contract);
    assert_eq!(done.state().reason, "none");
}

/// Ids are unique and sort by creation time.
#[test]
fn every_machine_has_its_own_id() {
    let ids: Vec<_> = (0..1000).map(|_| Ticket::new().id()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "two ids are the same, or out of order");
}
