//! The facts that a memory keeps of an execution (OB-13).

use machine::view::FinalStatus;
use proptest::prelude::*;

use crate::view::{prelude::*, situations::answered_late};

fn fact(execution: impl Into<AnyExecution>) -> View<ExecutionFact> {
    ExecutionFact::of(&execution.into()).unwrap()
}

/// The fields, by name, and nothing else: no key, no actor, no detail.
#[test]
fn a_fact_has_these_fields() {
    let done = Execution::new(read("secret.txt")).start(tool_node());
    let id = done.id();
    let mut json = json!(fact(done.succeed("42 bytes".to_owned(), tool_node())));
    assert!(json["duration_ms"].take().as_u64().unwrap() < 10_000);
    assert_eq!(
        json,
        json!({
            "type": "execution_fact",
            "execution_id": id,
            "action_type": "tool_call",
            "action_summary": "files.read",
            "final_status": "completed",
            "irreversible": false,
            "duration_ms": null,
            "result_summary": "42 bytes",
            "error_summary": null,
        })
    );
    assert!(!json.to_string().contains("secret"));
}

/// Each end has its own status, and what has not ended has no fact.
#[test]
fn only_what_has_ended_is_a_fact() {
    let pending = Execution::new(read("a"));
    for lives in [AnyExecution::from(pending), reading().into(), asked("Deploy?").into()] {
        assert!(ExecutionFact::of(&lives).is_none());
    }
    let x = || "x".to_owned();
    for (ended, status, action, result, error) in [
        (
            fact(asked("Deploy?").cancel(x(), graph_runner())),
            FinalStatus::Cancelled,
            "ecs_request",
            None,
            Some("x"),
        ),
        (
            fact(reading().fail(x(), None, tool_node())),
            FinalStatus::Failed,
            "tool_call",
            None,
            Some("x"),
        ),
        (
            fact(reading().reject(x(), tool_node())),
            FinalStatus::Rejected,
            "tool_call",
            None,
            Some("x"),
        ),
        (
            fact(reading().succeed(x(), tool_node())),
            FinalStatus::Completed,
            "tool_call",
            Some("x"),
            None,
        ),
    ] {
        assert_eq!((ended.final_status, &*ended.action_type.to_string()), (status, action));
        assert_eq!(
            (ended.result_summary.as_deref(), ended.error_summary.as_deref()),
            (result, error)
        );
    }
}

/// A receipt that arrives after a person has said "not done" is what a memory must know.
#[tokio::test]
async fn late_evidence_shows() {
    let overridden = async |answer| {
        let store = Store::memory();
        let id = create(&store, &mut pending_mail("bob")).await;
        fact(answered_late(&store, id, true, answer).await)
    };
    let agrees = overridden(refused("no")).await;
    assert_eq!((agrees.final_status, agrees.irreversible), (FinalStatus::Failed, true));
    let after = overridden(done("250 queued")).await;
    assert_eq!(after.final_status, FinalStatus::Contradicted);
    assert!(after.result_summary.as_ref().unwrap().contains("250 queued"));
    assert!(after.error_summary.as_ref().unwrap().contains("no mail arrived"));
}

proptest! {
    /// Summaries are the beginning of the text, of at most 200 characters, whatever they are.
    #[test]
    fn summaries_are_cut_between_characters(text in "(.|[🦀é漢\u{301}\u{200d}]){0,450}", fails: bool) {
        let running = reading();
        let summary = if fails {
            fact(running.fail(text.clone(), None, tool_node())).error_summary.clone()
        } else {
            fact(running.succeed(text.clone(), tool_node())).result_summary.clone()
        };
        let expected: String = text.chars().take(200).collect();
        prop_assert_eq!(summary, Some(expected));
    }
}
