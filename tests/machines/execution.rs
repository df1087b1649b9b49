//! The execution contract of the library (EX-1, EX-2). `tests/definition` has more tests of it.

use machine::{
    actor::{GraphRunner, ToolNode},
    contract::{
        AnyExecution, Execution,
        execution::{DEFINITION, Event, Status},
    },
    typed::Reason,
};
use machine_tests::samples::{asked, read};

use crate::source::Source;

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
        deadlines: &[],
    }
    .matches(DEFINITION);
}

#[test]
fn typed_a_tool_answers() {
    let done = Execution::new(read("a.txt")).start(&ToolNode).succeed("text".to_owned(), &ToolNode);
    assert_eq!(done.state().result, "text");
}

#[test]
fn erased_waiting_is_never_completed_directly() {
    let mut any = AnyExecution::from(asked("which one?"));
    let succeed = Event::Succeed { result: "text".to_owned() };
    let refused = any.apply_mut(succeed, &ToolNode).unwrap_err();
    assert_eq!(refused.reason(), &Reason::NotFromHere);
    any.apply_mut(Event::Timeout { reason: "an hour".to_owned() }, &GraphRunner).unwrap();
    assert_eq!(any.status(), Status::Cancelled);
}
