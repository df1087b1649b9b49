//! The facts that a memory keeps of an execution (OB-13).

use std::{sync::Arc, time::Duration};

use machine::{
    contract::{AnyExecution, Execution, service_fn},
    store::{OpenOptions, Store},
    view::{ExecutionFact, FinalStatus},
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    samples::{asked, mail, read},
};
use proptest::prelude::*;

fn fact(execution: impl Into<AnyExecution>) -> ExecutionFact {
    ExecutionFact::of(&execution.into()).unwrap()
}

/// The fields, by name, and nothing else: no key, no actor, no detail.
#[test]
fn a_fact_has_these_fields() {
    let done = Execution::new(read("secret.txt"))
        .start(tool_node())
        .succeed("42 bytes".to_owned(), tool_node());
    let id = done.id();
    let mut json = serde_json::to_value(fact(done)).unwrap();
    assert!(json["duration_ms"].take().as_u64().unwrap() < 10_000);
    assert_eq!(
        json,
        serde_json::json!({
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
    let running = || Execution::new(read("a")).start(tool_node());
    let pending = Execution::new(read("a"));
    for lives in [AnyExecution::from(pending), running().into(), asked("Deploy?").into()] {
        assert!(ExecutionFact::of(&lives).is_none());
    }
    let cancelled = fact(asked("Deploy?").cancel("nobody asked".to_owned(), graph_runner()));
    assert_eq!(
        (cancelled.final_status, cancelled.action_type.to_string().as_str()),
        (FinalStatus::Cancelled, "ecs_request")
    );
    assert_eq!(
        (cancelled.error_summary.as_deref(), cancelled.result_summary),
        (Some("nobody asked"), None)
    );
    let failed = fact(running().fail("no such file".to_owned(), tool_node()));
    assert_eq!(
        (failed.final_status, failed.error_summary.as_deref()),
        (FinalStatus::Failed, Some("no such file"))
    );
    let rejected = fact(running().reject("not permitted".to_owned(), tool_node()));
    assert_eq!(rejected.final_status, FinalStatus::Rejected);
}

/// A receipt that arrives after a person has said "not done" is what a memory must know.
#[tokio::test]
async fn late_evidence_shows() {
    let store = OpenOptions::new().memory();
    let mut pending = Execution::new(mail("bob"));
    store.create(&mut pending).await.unwrap();
    let id = pending.id();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let (answer, answered) = tokio::sync::oneshot::channel::<()>();
    let answered = Arc::new(tokio::sync::Mutex::new(Some(answered)));
    let call = tokio::spawn(permit.call(service_fn(move |_call| {
        let answered = Arc::clone(&answered);
        Box::pin(async move {
            let wait = answered.lock().await.take();
            let _ = wait.unwrap().await;
            Ok(machine::contract::Applied::new("250 queued"))
        })
    })));
    tokio::time::sleep(Duration::from_millis(10)).await;
    let doubt = store.fence(id, "too slow", graph_runner()).await.unwrap();
    let failed = store.override_not_applied(doubt, "never sent", ann()).await.unwrap();
    let before = fact(failed);
    assert_eq!((before.final_status, before.irreversible), (FinalStatus::Failed, true));
    answer.send(()).unwrap();
    let outcome = call.await.unwrap();
    assert!(store.settle(running, outcome, tool_node()).await.is_err());
    let after = fact(load(&store, id).await);
    assert_eq!(after.final_status, FinalStatus::Contradicted);
    assert!(after.result_summary.unwrap().contains("250 queued"));
    assert!(after.error_summary.unwrap().contains("never sent"));
}

async fn load(store: &Store, id: machine::Id) -> AnyExecution {
    store.load(id).await.unwrap()
}

proptest! {
    /// Summaries are the beginning of the text, of at most 200 characters, whatever they are.
    #[test]
    fn summaries_are_cut_between_characters(text in "(.|[🦀é漢\u{301}\u{200d}]){0,450}", fails: bool) {
        let running = Execution::new(read("a")).start(tool_node());
        let summary = if fails {
            fact(running.fail(text.clone(), tool_node())).error_summary
        } else {
            fact(running.succeed(text.clone(), tool_node())).result_summary
        };
        let expected: String = text.chars().take(200).collect();
        prop_assert_eq!(summary, Some(expected));
    }
}
