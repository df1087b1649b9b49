//! The end of an irreversible execution that no store has recorded.

use machine::{
    contract::{AnyExecution, Execution, Settled},
    store::Store,
    view::{ConsequenceView, ExecutionFact, ExecutionSnapshot, Human, Label, Language, Prompt},
};
use machine_tests::{
    actors::{graph_runner, tool_node},
    forge, prompt_lines,
    samples::{mail, pending_mail, read, receipt},
};

/// Nothing says that it took effect, nor that it did not.
fn is_unconfirmed(execution: &AnyExecution, text: &str) {
    let view = ConsequenceView::of(execution);
    assert_eq!((view.consequence_label, &view.result), (Label::Unconfirmed, &None));
    assert!(!view.has_side_effects && !view.is_still_pending);
    let line = format!("[UNCONFIRMED] email.send → bob: no store has recorded this: {text}");
    assert_eq!(view.to_string(), line);
    let prompt = Prompt::new(std::slice::from_ref(&view)).to_string();
    assert_eq!(prompt_lines(&prompt), [&line]);
    assert_eq!(Label::of(execution), Label::Unconfirmed);
    assert_eq!(ExecutionSnapshot::<Human>::of(execution, 0).label, Label::Unconfirmed);
    assert_eq!(ExecutionFact::of(execution), None);
    let chinese = ConsequenceView::in_language(execution, Language::Chinese).to_string();
    assert_eq!(chinese, format!("[UNCONFIRMED] email.send → bob: 没有存储记录此结果：{text}"));
}

/// The finding: `[SUCCESS] bank.pay: forged receipt` of an execution that no store ever saw.
#[test]
fn an_end_in_memory_is_unconfirmed() {
    let running = || pending_mail("bob").start(tool_node());
    is_unconfirmed(&running().succeed("forged".to_owned(), tool_node()).into(), "forged");
    is_unconfirmed(&running().fail("refused".to_owned(), tool_node()).into(), "refused");
    is_unconfirmed(&running().reject("no".to_owned(), tool_node()).into(), "no");
    is_unconfirmed(&running().cancel("late".to_owned(), graph_runner()).into(), "late");
}

/// Also of one that a store has in an earlier state.
#[tokio::test]
async fn an_end_that_is_not_committed_is_unconfirmed() {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob"));
    store.create(&mut pending).await.unwrap();
    let AnyExecution::Pending(loaded) = store.load(pending.id()).await.unwrap() else { panic!() };
    let done = loaded.start(tool_node()).succeed("forged".to_owned(), tool_node());
    is_unconfirmed(&done.into(), "forged");

    let (running, _permit) = store.begin(pending, tool_node()).await.unwrap();
    let AnyExecution::Running(loaded) = store.load(running.id()).await.unwrap() else { panic!() };
    is_unconfirmed(&loaded.fail("refused".to_owned(), tool_node()).into(), "refused");
}

/// A record of a store is confirmed; and data are confirmed once a store has them.
#[tokio::test]
async fn what_a_store_has_recorded_is_confirmed() {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob"));
    store.create(&mut pending).await.unwrap();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let outcome = permit.call(receipt("sent")).await;
    let settled = store.settle(running, outcome, tool_node()).await;
    let Ok(Settled::Completed(done)) = settled else { panic!() };
    let id = done.id();
    let expected = "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: sent";
    assert_eq!(ConsequenceView::of(&done.into()).to_string(), expected);
    let loaded: AnyExecution = store.load(id).await.unwrap();
    assert_eq!(ConsequenceView::of(&loaded).to_string(), expected);

    let claim = store.export(id).await.unwrap();
    let mut imported = forge::cross_execution(claim).unwrap();
    assert_eq!(Label::of(&imported), Label::Unconfirmed);
    Store::memory().create(&mut imported).await.unwrap();
    assert_eq!(ConsequenceView::of(&imported).to_string(), expected);
}

/// An idempotent action may run without a store.
#[test]
fn an_idempotent_action_needs_no_store() {
    let done = Execution::new(read("a")).start(tool_node()).succeed("x".to_owned(), tool_node());
    assert_eq!(Label::of(&done.into()), Label::Success);
}
