//! The execution contract of the library (EX-1, EX-2). `tests/definition` has more tests of it.

use std::time::Duration;

use machine::{
    contract::{
        Action, AnyExecution, Execution,
        execution::{DEFINITION, Event, Status},
    },
    store::Store,
    typed::Reason,
};
use machine_tests::actors::{ecs_node, graph_runner, tool_node};
use machine_tests::samples::{asked, mail, read};

use crate::machines::source::Source;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &["pending", "running", "waiting", "completed", "failed", "rejected", "cancelled"],
        initial: "pending",
        terminal: &["completed", "failed", "rejected", "cancelled"],
        stable: &["waiting"],
        rows: &[
            ("pending", "start", "running"),
            ("running", "succeed", "completed"),
            ("running", "fail", "failed"),
            ("running", "reject", "rejected"),
            ("running", "suspend", "waiting"),
            ("running", "cancel", "cancelled"),
            ("waiting", "resume", "running"),
            ("waiting", "cancel", "cancelled"),
            ("waiting", "timeout", "cancelled"),
        ],
        deadlines: &[("waiting", "timeout", "context.answer_limit()")],
    }
    .matches(DEFINITION);
}

/// A question that is not a gate may wait forever; a gate has the limit that was asked for.
#[tokio::test]
async fn only_a_gate_with_a_limit_has_a_deadline() {
    let store = Store::memory();
    let mut question = asked("which one?");
    store.create(&mut question).await.unwrap();
    assert!(question.journal().deadlines().iter().all(|due| due.due_at.is_none()));
    for limit in [None, Some(Duration::from_mins(10))] {
        let (mut gate, mut mail) = mail("bob").ask::<Action>(limit, ecs_node()).unwrap();
        let before = machine::clock::now();
        store.ask(&mut gate, &mut mail).await.unwrap();
        let after = machine::clock::now();
        let expected = limit.map(|_| before + 600_000..=after + 600_000);
        assert_eq!(gate.expires_at().is_some(), expected.is_some());
        assert!(gate.expires_at().is_none_or(|at| expected.unwrap().contains(&at)));
    }
}

#[test]
fn typed_a_tool_answers() {
    let done =
        Execution::new(read("a.txt")).start(tool_node()).succeed("text".to_owned(), tool_node());
    assert_eq!(done.state().result, "text");
}

#[test]
fn erased_waiting_is_never_completed_directly() {
    let mut any = AnyExecution::from(asked("which one?"));
    let succeed = Event::Succeed { result: "text".to_owned() };
    let refused = any.apply_mut(succeed, tool_node()).unwrap_err();
    assert_eq!(refused.reason(), &Reason::NotFromHere);
    any.apply_mut(Event::Timeout, graph_runner()).unwrap();
    assert_eq!(any.status(), Status::Cancelled);
}
