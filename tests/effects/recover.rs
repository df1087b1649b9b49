//! Finding executions in doubt, and the two ways to settle them.

use machine::{
    contract::{CallFact, execution::Status},
    store::{CommitError, LoadError},
    typed::Refused,
    view::late_evidence,
};
use machine_tests::actors::{ann, tool_node};
use machine_tests::{
    assert_err,
    samples::{asked, mail, read},
};

use crate::store::{
    service::in_flight,
    support::{Place, on_both, recovered, unknown},
};

on_both! {
    a_dropped_permit_is_in_doubt,
    a_dropped_future_is_in_doubt,
    a_dropped_outcome_is_in_doubt,
    the_rest_is_left_alone,
    what_was_parked_is_returned_again,
    confirmed_applied_is_completed,
    confirmed_not_applied_is_failed,
    two_answers_and_one_counts,
}

/// Dropping a permit unanswered leaves its execution in doubt and the worker fenced.
async fn a_dropped_permit_is_in_doubt(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    assert_eq!(place.recovered().await.len(), 0);
    drop(permit);
    let found = place.recovered().await;
    assert_eq!(found.len(), 1);
    let execution = found[0].execution();
    assert_eq!(execution.id(), running.id());
    assert_eq!(execution.journal().epoch(), 1);
    assert_eq!(place.status(running.id()).await, Status::Waiting);
    let history = place.store.history(running.id()).await.unwrap();
    assert_eq!(late_evidence(&history).len(), 0);
}

/// So does dropping the future in the middle of the call.
async fn a_dropped_future_is_in_doubt(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let call = in_flight(permit).await;
    assert_eq!(place.recovered().await.len(), 0);
    assert!(call.abort().await.is_cancelled());
    let found = place.recovered().await;
    assert_eq!(found[0].execution().id(), running.id());
}

/// So does dropping an outcome without settling it.
async fn a_dropped_outcome_is_in_doubt(place: Place) {
    let (_running, permit) = place.begun(mail("bob")).await;
    let outcome = unknown(permit, "?").await;
    assert_eq!(place.recovered().await.len(), 0);
    drop(outcome);
    assert_eq!(place.recovered().await.len(), 1);
}

/// Executions that are not in doubt are left alone: questions to people, idempotent calls.
async fn the_rest_is_left_alone(place: Place) {
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    let mut running = place.stored(read("a.txt")).await.start(tool_node());
    place.store.commit(&mut running).await.unwrap();
    let _ = place.done(mail("ann")).await;
    let before = place.dump().await;
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.dump().await, before);
    assert_err!(
        place.store.in_doubt(question.id()).await,
        LoadError::NotInDoubt { id } if *id == question.id(),
    );
}

/// A second recover returns them again and changes nothing.
async fn what_was_parked_is_returned_again(place: Place) {
    for to in ["ann", "bob"] {
        let (_running, permit) = place.begun(mail(to)).await;
        drop(permit);
    }
    let ids = |found: Vec<machine::contract::InDoubt>| {
        found.iter().map(|doubt| doubt.execution().id()).collect::<Vec<_>>()
    };
    let first = ids(place.recovered().await);
    let before = place.dump().await;
    assert_eq!(first.len(), 2);
    assert!(first.is_sorted(), "oldest first");
    assert_eq!(ids(place.recovered().await), first);
    assert_eq!(ids(recovered(&place.open_again().await).await), first);
    assert_eq!(place.dump().await, before);
}

/// Confirming as applied keeps the key.
async fn confirmed_applied_is_completed(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    let done = place.store.confirm_applied(doubt, "it arrived", ann()).await.unwrap();
    assert_eq!(done.state().result, "it arrived");
    assert_eq!(place.status(running.id()).await, Status::Completed);
    let mut again = machine_tests::samples::pending_mail("bob");
    assert_err!(place.store.create(&mut again).await, CommitError::AlreadyDone { .. });
    assert_eq!(place.recovered().await.len(), 0);
}

/// Confirming as not applied releases the key.
async fn confirmed_not_applied_is_failed(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    let failed = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    assert_eq!(failed.state().error, "not sent");
    let entries = place.entries(running.id()).await;
    let confirmed = entries.iter().find_map(|entry| match CallFact::of(entry)? {
        CallFact::Confirmed { applied, reason, overridden, .. } => {
            Some((applied, reason, overridden, entry.by.as_deref()))
        }
        _ => None,
    });
    assert_eq!(confirmed, Some((false, "not sent".to_owned(), false, Some("ann"))));
    assert_eq!(place.status(running.id()).await, Status::Failed);
    let _ = place.done(mail("bob")).await;
}

/// If two people answer, the second gets a conflict.
async fn two_answers_and_one_counts(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let yes = place.recovered().await.pop().unwrap();
    let no = place.store.in_doubt(running.id()).await.unwrap();
    let _ = place.store.confirm_applied(yes, "it arrived", ann()).await.unwrap();
    let second = place.store.confirm_not_applied(no, "it did not", ann()).await;
    let Err(Refused { machine: stale, reason: CommitError::Conflict { id } }) = second else {
        panic!("{second:?}");
    };
    assert_eq!([id, stale.execution().id()], [running.id(); 2]);
    assert_eq!(place.status(running.id()).await, Status::Completed);
}
