//! The facts that a memory keeps of an execution (OB-13).

use machine::{contract::execution::Status, journal::Fact, view::FinalStatus};
use machine_tests::samples::Ticket;
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

/// Whoever follows the journal finds the end of each execution once, in order.
#[tokio::test]
async fn a_subscriber_finds_each_end_once() {
    let store = Store::memory();
    let mut expected = Vec::new();
    for _ in 0..3 {
        let mut running = reading();
        store.create(&mut running).await.unwrap();
        let mut done = running.succeed("42 bytes".to_owned(), tool_node());
        store.commit(&mut done).await.unwrap();
        expected.push(done.id());
        store.create(&mut asked("Deploy?")).await.unwrap();
        store.create(&mut Ticket::new().close("fixed".to_owned(), 1.0)).await.unwrap();
    }
    let newest = store.position().await.unwrap();
    let mut entries = store.subscribe(None).await.unwrap();
    let mut found = Vec::new();
    while entries.position() < newest {
        let committed = entries.next().await.unwrap();
        let Fact::Moved { to, .. } = &committed.entry.fact else { continue };
        if to.parse::<Status>().is_ok_and(|status| status.definition().terminal) {
            let execution: AnyExecution = store.load(committed.id).await.unwrap();
            found.push(fact(execution).execution_id);
        }
    }
    assert_eq!(found, expected);
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
