//! The texts of refusals (EX-2, EX-4).

use machine::{
    contract::{AnyExecution, Execution, execution::Event},
    typed::Reason,
};
use machine_tests::actors::{ecs_node, graph_runner, reasoning_node, tool_node};
use machine_tests::samples::{asked, read};

fn pending() -> AnyExecution {
    Execution::new(read("a.txt")).into()
}

/// For a missing move, the error names the legal ones.
#[test]
fn a_missing_move_names_the_legal_ones() {
    let event = Event::Succeed { result: "x".to_owned() };
    let refused = AnyExecution::from(asked("?")).apply(event, tool_node()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "WAITING cannot `succeed`; from WAITING you can: resume -> RUNNING, cancel -> CANCELLED, \
         timeout -> CANCELLED"
    );
    let reason = refused.reason;
    assert_eq!((reason.state(), reason.trigger()), ("WAITING", "succeed"));
    assert_eq!(reason.reason(), &Reason::NotFromHere);
}

/// For a terminal state, the error says so.
#[test]
fn a_terminal_state_says_so() {
    let cancelled = asked("?").cancel("no".to_owned(), graph_runner());
    let refused = AnyExecution::from(cancelled).apply(Event::Resume, graph_runner()).unwrap_err();
    assert_eq!(refused.to_string(), "CANCELLED is terminal: it cannot `resume`");
    assert_eq!(refused.reason.reason(), &Reason::Terminal);
}

/// For the wrong actor, the error names the allowed ones.
#[test]
fn a_wrong_actor_names_the_allowed_ones() {
    let refused = pending().apply(Event::Start, reasoning_node()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`reasoning` may not `start` from PENDING; these may: tool_node, ecs_node"
    );
    assert_eq!(refused.reason.reason(), &Reason::Actor("reasoning"));
    let refused = AnyExecution::from(asked("?")).apply(Event::Resume, ecs_node()).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::Actor("ecs_node"));
}

/// A refusal implements `Error`, and its `Debug` does not need the machine's.
#[test]
fn a_refusal_is_an_error() {
    let refused = pending().apply(Event::Resume, graph_runner()).unwrap_err();
    let debug = format!("{refused:?}");
    assert_eq!(debug, refused.to_string());
    let error: Box<dyn std::error::Error> = Box::new(refused);
    assert!(error.to_string().starts_with("PENDING cannot `resume`"));
}
