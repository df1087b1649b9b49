//! A label for each state (OB-7).

use machine::{
    contract::{AnyExecution, Execution, execution::Event},
    view::{ConsequenceView, Label},
};
use machine_tests::actors::{graph_runner, tool_node};
use machine_tests::samples::read;

fn text() -> String {
    "x".to_owned()
}

fn after(events: Vec<Event>) -> ConsequenceView {
    let mut execution = AnyExecution::from(Execution::new(read("a.txt")));
    for event in events {
        let moved = match event {
            Event::Start => execution.apply_mut(event, tool_node()),
            _ => execution.apply_mut(event, graph_runner()),
        };
        moved.unwrap();
    }
    ConsequenceView::of(&execution)
}

/// The labels are those of OB-7, as text and as JSON.
#[test]
fn every_state_has_its_label() {
    use Event::{Cancel, Fail, Reject, Resume, Start, Succeed, Suspend, Timeout};
    for (events, label, word) in [
        (vec![], Label::NotStarted, "NOT_STARTED"),
        (vec![Start], Label::InProgress, "IN_PROGRESS"),
        (vec![Start, Suspend { prompt: text() }], Label::Waiting, "WAITING"),
        (vec![Start, Suspend { prompt: text() }, Resume], Label::InProgress, "IN_PROGRESS"),
        (vec![Start, Succeed { result: text() }], Label::Success, "SUCCESS"),
        (vec![Start, Fail { error: text() }], Label::Failed, "FAILED"),
        (vec![Start, Reject { reason: text() }], Label::Rejected, "REJECTED"),
        (vec![Start, Cancel { reason: text() }], Label::Cancelled, "CANCELLED"),
        (vec![Start, Suspend { prompt: text() }, Timeout], Label::Cancelled, "CANCELLED"),
    ] {
        let view = after(events);
        assert_eq!(view.consequence_label, label);
        assert_eq!(label.to_string(), word);
        assert_eq!(serde_json::to_value(label).unwrap(), word);
    }
}

/// A result on success, an error otherwise, neither before the end.
#[test]
fn results_and_errors_are_told_apart() {
    let done = after(vec![Event::Start, Event::Succeed { result: text() }]);
    assert_eq!((done.result.as_deref(), done.error_message), (Some("x"), None));
    for event in [
        Event::Fail { error: text() },
        Event::Reject { reason: text() },
        Event::Cancel { reason: text() },
    ] {
        let ended = after(vec![Event::Start, event]);
        assert_eq!((ended.result, ended.error_message.as_deref()), (None, Some("x")));
        assert!(!ended.is_still_pending);
    }
    let waiting = after(vec![Event::Start, Event::Suspend { prompt: text() }]);
    assert_eq!((waiting.result, waiting.error_message), (None, None));
    assert!(waiting.is_still_pending && waiting.was_suspended);
}
