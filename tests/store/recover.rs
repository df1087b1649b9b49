//! Finding executions in doubt, and the two ways to settle them.

use machine::{
    actor::{GraphRunner, ToolNode},
    contract::execution::Status,
    journal::{Evidence, Fact},
    store::StoreError,
    view::late_evidence,
};
use machine_tests::{
    assert_err,
    samples::{asked, mail, read},
};

use crate::support::{Place, unknown};

/// Dropping a permit unanswered leaves its execution in doubt and the worker fenced.
#[tokio::test]
async fn a_dropped_permit_is_in_doubt() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    drop(permit);
    let found = place.store.recover().await.unwrap();
    assert_eq!(found.len(), 1);
    let execution = found[0].execution();
    assert_eq!(execution.id(), running.id());
    assert_eq!(execution.journal().epoch(), 1);
    assert_eq!(place.status(running.id()).await, Status::Waiting);
    assert_eq!(late_evidence(found[0].execution()).len(), 0);
}

/// So does dropping the future in the middle of the call.
#[tokio::test]
async fn a_dropped_future_is_in_doubt() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let mut call = Box::pin(permit.call(async |_permit| std::future::pending().await));
    let polled = tokio::time::timeout(std::time::Duration::from_millis(1), &mut call).await;
    assert!(polled.is_err());
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    drop(call);
    let found = place.store.recover().await.unwrap();
    assert_eq!(found[0].execution().id(), running.id());
}

/// So does dropping an outcome without settling it.
#[tokio::test]
async fn a_dropped_outcome_is_in_doubt() {
    let place = Place::new();
    let (_running, permit) = place.begun(mail("bob")).await;
    let outcome = unknown(permit, "?").await;
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    drop(outcome);
    assert_eq!(place.store.recover().await.unwrap().len(), 1);
}

/// Executions that are not in doubt are left alone: questions to people, idempotent calls.
#[tokio::test]
async fn the_rest_is_left_alone() {
    let place = Place::new();
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    let mut running = place.stored(read("a.txt")).await.start(&ToolNode);
    place.store.commit(&mut running).await.unwrap();
    let _ = place.done(mail("ann")).await;
    let before = place.dump();
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    assert_eq!(place.dump(), before);
    assert_err!(
        place.store.in_doubt(question.id()).await,
        StoreError::NotInDoubt { id } if *id == question.id(),
    );
}

/// A second recover returns them again and changes nothing.
#[tokio::test]
async fn what_was_parked_is_returned_again() {
    let place = Place::new();
    for to in ["ann", "bob"] {
        let (_running, permit) = place.begun(mail(to)).await;
        drop(permit);
    }
    let ids = |found: Vec<machine::contract::InDoubt>| {
        found.iter().map(|doubt| doubt.execution().id()).collect::<Vec<_>>()
    };
    let first = ids(place.store.recover().await.unwrap());
    let before = place.dump();
    assert_eq!(first.len(), 2);
    assert!(first.is_sorted(), "oldest first");
    assert_eq!(ids(place.store.recover().await.unwrap()), first);
    assert_eq!(ids(place.open_again().recover().await.unwrap()), first);
    assert_eq!(place.dump(), before);
}

/// Confirming as applied keeps the key.
#[tokio::test]
async fn confirmed_applied_is_completed() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.store.recover().await.unwrap().pop().unwrap();
    let done = place.store.confirm_applied(doubt, "it arrived", &GraphRunner).await.unwrap();
    assert_eq!(done.state().result, "it arrived");
    assert_eq!(place.status(running.id()).await, Status::Completed);
    let mut again = machine_tests::samples::pending_mail("bob");
    assert_err!(place.store.create(&mut again).await, StoreError::AlreadyDone { .. });
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
}

/// Confirming as not applied releases the key.
#[tokio::test]
async fn confirmed_not_applied_is_failed() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.store.recover().await.unwrap().pop().unwrap();
    let failed = place.store.confirm_not_applied(doubt, "not sent", &GraphRunner).await.unwrap();
    assert_eq!(failed.state().error, "not sent");
    let journal = failed.journal().entries();
    assert!(journal.iter().any(|entry| matches!(
        &entry.fact,
        Fact::Evidence { evidence: Evidence::NotApplied(_), late: false, .. }
    )));
    assert_eq!(place.status(running.id()).await, Status::Failed);
    let _ = place.done(mail("bob")).await;
}

/// If two people answer, the second gets a conflict.
#[tokio::test]
async fn two_answers_and_one_counts() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let yes = place.store.recover().await.unwrap().pop().unwrap();
    let no = place.store.in_doubt(running.id()).await.unwrap();
    let _ = place.store.confirm_applied(yes, "it arrived", &GraphRunner).await.unwrap();
    let second = place.store.confirm_not_applied(no, "it did not", &GraphRunner).await;
    assert_err!(second, StoreError::Conflict { .. });
    assert_eq!(place.status(running.id()).await, Status::Completed);
}
