//! From the erased machine to the typed one and back.

use machine::{
    contract::{AnyExecution, Execution, execution},
    typed::{State, Terminal},
};
use machine_tests::actors::tool_node;
use machine_tests::samples::{asked, read};

/// Narrowing to the right state succeeds; any other returns the machine unchanged.
#[test]
fn a_machine_narrows_to_its_state_only() {
    let waiting = asked("Deploy?");
    let id = waiting.id();
    let any = AnyExecution::from(waiting);
    let any = execution::Running::narrow(any).unwrap_err();
    assert_eq!((any.id(), any.status()), (id, execution::Status::Waiting));
    let waiting = execution::Waiting::narrow(any).unwrap();
    assert_eq!((waiting.id(), waiting.journal().uncommitted().len()), (id, 3));
}

/// Each state knows its index in the definition.
#[test]
fn states_know_their_index() {
    let index = [
        execution::Pending::INDEX,
        execution::Running::INDEX,
        execution::Waiting::INDEX,
        execution::Completed::INDEX,
        execution::Failed::INDEX,
        execution::Rejected::INDEX,
        execution::Cancelled::INDEX,
    ];
    for (index, status) in index.into_iter().zip(execution::Status::ALL) {
        assert_eq!(execution::DEFINITION.states[index].name, status.as_str());
    }
    let pending = AnyExecution::from(Execution::new(read("a.txt")));
    assert_eq!(pending.status(), execution::Status::Pending);
}

fn last_words<S: Terminal>(_machine: &S::Machine) -> &'static str {
    &execution::DEFINITION.states[S::INDEX].label
}

/// A function can require a machine in a terminal state (EX-1).
#[test]
fn a_function_can_ask_for_an_end() {
    let failed =
        Execution::new(read("a.txt")).start(tool_node()).fail("x".to_owned(), None, tool_node());
    assert_eq!(last_words::<execution::Failed>(&failed), "FAILED");
}
