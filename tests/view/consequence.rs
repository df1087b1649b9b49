//! The fields that a reasoner sees, and those that it does not see (OB-6, EX-13).

use machine_tests::actors::{graph_runner, tool_node};
use std::collections::BTreeSet;

use machine::{
    contract::{AnyExecution, Execution, Settled},
    store::Store,
    view::ConsequenceView,
};
use machine_tests::{
    forge,
    samples::{asked, contradicted, mail, pending_mail, read, receipt},
};
use serde_json::Value;

/// Exactly the fields of OB-6: no key, no timeout, no actor.
#[test]
fn nothing_hidden_gets_out() {
    let execution = AnyExecution::from(pending_mail("bob"));
    let json = serde_json::to_value(ConsequenceView::of(&execution)).unwrap();
    let names: BTreeSet<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "action_summary",
        "action_type",
        "consequence_label",
        "error_message",
        "execution_id",
        "has_side_effects",
        "human_confirmed",
        "is_still_pending",
        "result",
        "total_duration_ms",
        "was_suspended",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    assert_eq!(json["execution_id"], execution.id().to_string());
    assert_eq!(json["action_type"], "tool_call");
    let text = json.to_string();
    let key = execution.context().idempotency_key().unwrap().as_str();
    assert!(!text.contains(key) && !text.contains("reasoning"), "{text}");
    assert!(!text.contains("test"), "the name of an actor is for diagnosis: {text}");
    assert_eq!(json["result"], Value::Null);
}

/// Only an action that is both irreversible and COMPLETED has side effects.
#[tokio::test]
async fn side_effects_are_irreversible_and_completed() {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob"));
    store.create(&mut pending).await.unwrap();
    assert!(!ConsequenceView::of(&pending_mail("bob").into()).has_side_effects);
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let outcome = permit.call(receipt("sent")).await;
    let running = AnyExecution::from(running);
    assert!(!ConsequenceView::of(&running).has_side_effects);
    let AnyExecution::Running(running) = running else { panic!() };
    let Settled::Completed(done) = store.settle(running, outcome, tool_node()).await.unwrap()
    else {
        panic!()
    };
    assert!(ConsequenceView::of(&done.into()).has_side_effects);

    let read =
        Execution::new(read("a.txt")).start(tool_node()).succeed("x".to_owned(), tool_node());
    assert!(!ConsequenceView::of(&read.into()).has_side_effects);
}

/// The view shows whether the execution was ever WAITING.
#[test]
fn having_waited_is_remembered() {
    let done = asked("Deploy?").resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
    assert!(ConsequenceView::of(&done.into()).was_suspended);
    let direct = Execution::new(read("a.txt")).start(tool_node()).succeed("x".into(), tool_node());
    assert!(!ConsequenceView::of(&direct.into()).was_suspended);
}

/// The duration runs from the creation to the end, and there is none before.
#[test]
fn the_duration_is_that_of_the_journal() {
    let mut claim = forge::claim(&asked("Deploy?"));
    let start = claim.journal[0].at;
    claim.journal[1].at = start + 250;
    claim.journal[2].at = start + 4_000;
    let view = ConsequenceView::of(&forge::cross_execution(claim).unwrap());
    assert_eq!((view.is_still_pending, view.total_duration_ms), (true, None));

    let direct = Execution::new(read("a.txt")).start(tool_node()).succeed("x".into(), tool_node());
    let mut claim = forge::claim(&direct);
    let start = claim.journal[0].at;
    claim.journal[1].at = start + 250;
    claim.journal[2].at = start + 4_000;
    let view = ConsequenceView::of(&forge::cross_execution(claim).unwrap());
    assert_eq!((view.is_still_pending, view.total_duration_ms), (false, Some(4_000)));
}

/// OB-6: a receipt that arrives after the end does not move it.
#[tokio::test]
async fn a_late_receipt_does_not_change_the_duration() {
    let store = Store::memory();
    let id = contradicted(&store, "bob").await;
    let ended: AnyExecution = store.load(id).await.unwrap();
    let past = ended.journal().summary();
    assert!(past.updated_at >= past.entered_at);
    let took = u64::try_from(past.entered_at - past.created_at).unwrap();
    assert_eq!(ConsequenceView::of(&ended).total_duration_ms, Some(took));
}

/// A loaded execution has only the summary of its past, and its view is the same as before; also when
/// more happens after it was loaded.
#[tokio::test]
async fn a_loaded_execution_has_the_same_view() {
    let store = Store::memory();
    let mut claim = forge::claim(&asked("Deploy?").resume(graph_runner()));
    let start = claim.journal[0].at - 10_000;
    claim.journal[0].at = start;
    let mut resumed = forge::cross_execution(claim).unwrap();
    let before = ConsequenceView::of(&resumed);
    assert!(before.was_suspended && before.total_duration_ms.is_none());
    store.create(&mut resumed).await.unwrap();
    assert_eq!(ConsequenceView::of(&resumed), before);
    let loaded: AnyExecution = store.load(resumed.id()).await.unwrap();
    assert_eq!(ConsequenceView::of(&loaded), before);

    let AnyExecution::Running(running) = loaded else { panic!() };
    let done = AnyExecution::from(running.succeed("yes".to_owned(), graph_runner()));
    let view = ConsequenceView::of(&done);
    assert!(view.was_suspended && !view.is_still_pending);
    assert!(view.total_duration_ms.is_some_and(|took| took >= 10_000));

    let mut direct = Execution::new(read("a.txt")).start(tool_node());
    store.create(&mut direct).await.unwrap();
    let loaded: AnyExecution = store.load(direct.id()).await.unwrap();
    assert!(!ConsequenceView::of(&loaded).was_suspended);
}
