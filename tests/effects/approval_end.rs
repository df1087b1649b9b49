//! The end of an approval: what a policy repeats does not outlive it.

use std::time::Duration;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Contract, Decides, Execution, Planned, Policy, Settled,
        execution::Failed,
    },
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::store::{
    service::not_applied,
    support::{Place, START, begin, begin_of, on_both, pending},
};

on_both! {
    a_policy_repeats_until_the_approval_ends,
    an_approval_of_the_same_batch_has_its_end,
    an_idempotent_action_is_repeated_until_the_approval_ends,
    the_end_of_an_approval_is_stored,
    a_policy_repeats_without_a_limit_what_was_approved_without_one,
    a_person_decides_after_the_end,
    a_question_takes_the_place_of_an_approval_that_ended,
}

const LIMIT: i64 = 300;

fn policy() -> Policy {
    Policy::new("the server refused it", graph_runner()).unwrap()
}

/// An attempt under an approval that ends after [`LIMIT`], which failed.
async fn failed_after_approval(store: &Store, contract: Contract) -> Execution<Failed> {
    let limit = Duration::from_millis(LIMIT.unsigned_abs());
    let (mut gate, mut planned) = contract.ask::<Action>(Some(limit), ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let gate = store.gate(gate.id()).await.unwrap();
    assert_eq!(gate.expires_at(), Some(START + LIMIT));
    let _ = machine_tests::approve(store, gate, ann()).await.unwrap();
    fails(store, planned).await.unwrap()
}

async fn fails(
    store: &Store,
    planned: impl Into<Planned<Action>>,
) -> Result<Execution<Failed>, CommitError> {
    let (running, permit) = begin(store, planned.into()).await?;
    let outcome = not_applied(permit, "connection refused").await;
    match store.settle(running, outcome, tool_node()).await.unwrap() {
        Settled::Failed(failed) => Ok(failed),
        other => panic!("{other:?}"),
    }
}

async fn retried(place: &Place, failed: &Execution<Failed>, by: &impl Decides) -> Id {
    place.stored(Contract::retry(failed, by)).await.id()
}

/// It begins neither before nor after the store was opened again, in a batch neither, and nothing is
/// written.
async fn has_expired(place: &Place, id: Id) {
    let before = place.dump().await;
    let refused = begin(&place.store, place.pending(id).await).await;
    assert_err!(refused, CommitError::ApprovalExpired { id: of, at, .. }
        if *of == id && *at == START + LIMIT);
    let again = place.open_again().await;
    let refused = begin(&again, pending(&again, id).await).await;
    assert_err!(refused, CommitError::ApprovalExpired { .. });
    let mut part = begin_of(place.pending(id).await);
    let refused = place.store.batch().begin(&mut part).write().await;
    assert_err!(refused, CommitError::ApprovalExpired { .. });
    assert_eq!(place.dump().await, before);
}

/// The finding: a policy repeated for as long as it liked.
async fn a_policy_repeats_until_the_approval_ends(place: Place) {
    let (place, clock) = place.clocked().await;
    let mut failed = failed_after_approval(&place.store, mail("bob")).await;
    // A retry of a retry goes back to the same approval.
    for _ in 0..3 {
        clock.advance(99);
        let next = place.pending(retried(&place, &failed, &policy()).await).await;
        failed = fails(&place.store, next).await.unwrap();
    }
    let planned_before = retried(&place, &failed, &policy()).await;
    clock.set(START + LIMIT);
    has_expired(&place, planned_before).await;
    let planned_after = retried(&place, &failed, &policy()).await;
    has_expired(&place, planned_after).await;

    // An action that was never begun is retried no better.
    let pending = place.pending(planned_after).await;
    let cancelled = place.store.cancel(pending, "too late", tool_node()).await.unwrap();
    let id = place.stored(Contract::retry(&cancelled, &policy())).await.id();
    has_expired(&place, id).await;
}

async fn an_approval_of_the_same_batch_has_its_end(place: Place) {
    let (place, clock) = place.clocked().await;
    let limit = Duration::from_millis(LIMIT.unsigned_abs());
    let (mut gate, mut planned) = mail("bob").ask::<Action>(Some(limit), ecs_node()).unwrap();
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    let mut decide = machine_tests::approval(place.store.gate(gate.id()).await.unwrap(), ann());
    let mut part = begin_of(planned.into_execution());
    place.store.batch().decide(&mut decide).begin(&mut part).write().await.unwrap();
    let (running, permit) = part.finish().unwrap();
    let outcome = not_applied(permit, "connection refused").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    clock.set(START + LIMIT);
    has_expired(&place, retried(&place, &failed, &policy()).await).await;
}

async fn an_idempotent_action_is_repeated_until_the_approval_ends(place: Place) {
    let (place, clock) = place.clocked().await;
    let failed = failed_after_approval(&place.store, read("secret.txt")).await;
    clock.advance(LIMIT - 1);
    let next = place.pending(retried(&place, &failed, &policy()).await).await;
    let failed = fails(&place.store, next).await.unwrap();
    clock.advance(1);
    has_expired(&place, retried(&place, &failed, &policy()).await).await;
}

/// It is a part of the contract, so that every process knows it, and the journal is sound.
async fn the_end_of_an_approval_is_stored(place: Place) {
    let (place, _clock) = place.clocked().await;
    let failed = failed_after_approval(&place.store, mail("bob")).await;
    let gate = failed.context().behind().unwrap();
    let id = retried(&place, &failed, &policy()).await;
    let again = place.open_again().await;
    let loaded: AnyExecution = again.load(id).await.unwrap();
    let end = loaded.context().approval_end().unwrap();
    assert_eq!((end.gate, end.at), (gate, START + LIMIT));
    let failed = fails(&again, pending(&again, id).await).await.unwrap();
    for id in [id, failed.id()] {
        again.verify::<AnyExecution>(id).await.unwrap();
    }
}

async fn a_policy_repeats_without_a_limit_what_was_approved_without_one(place: Place) {
    let (place, clock) = place.clocked().await;
    let (gate, planned) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let failed = fails(&place.store, planned).await.unwrap();
    clock.advance(1_000_000_000);
    let next = place.pending(retried(&place, &failed, &policy()).await).await;
    assert_eq!(next.context().approval_end(), None);
    let _ = fails(&place.store, next).await.unwrap();
}

/// A person's decision is a separate approval, and a policy's repetitions after it go back to that one.
async fn a_person_decides_after_the_end(place: Place) {
    let (place, clock) = place.clocked().await;
    let failed = failed_after_approval(&place.store, mail("bob")).await;
    let id = retried(&place, &failed, &policy()).await;
    let failed = fails(&place.store, place.pending(id).await).await.unwrap();
    clock.set(START + LIMIT);
    let next = place.pending(retried(&place, &failed, ann()).await).await;
    assert_eq!(next.context().approval_end(), None);
    let failed = fails(&place.store, next).await.unwrap();
    clock.advance(1_000_000);
    let next = place.pending(retried(&place, &failed, &policy()).await).await;
    let _ = fails(&place.store, next).await.unwrap();
}

/// A new gate is asked for what could no longer begin.
async fn a_question_takes_the_place_of_an_approval_that_ended(place: Place) {
    let (place, clock) = place.clocked().await;
    let failed = failed_after_approval(&place.store, mail("bob")).await;
    clock.set(START + LIMIT);
    let (gate, planned) = place.asked(Contract::retry(&failed, &policy())).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let _ = fails(&place.store, planned).await.unwrap();
}

/// The write waits for the file, and the approval ends meanwhile.
#[tokio::test]
async fn an_approval_that_ends_before_the_write_begins_nothing() {
    let (place, clock) = Place::new().await.clocked().await;
    let limit = Duration::from_millis(LIMIT.unsigned_abs());
    let (mut gate, mut planned) = mail("bob").ask::<Action>(Some(limit), ecs_node()).unwrap();
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    let gate = place.store.gate(gate.id()).await.unwrap();
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let raw = place.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let store = place.store.clone();
    let begins = tokio::spawn(async move { begin(&store, planned).await.map(|_| ()) });
    // If it has not come to the lock by then, it is refused before.
    tokio::time::sleep(Duration::from_millis(200)).await;
    clock.set(START + LIMIT);
    raw.execute_batch("COMMIT").unwrap();
    assert_err!(begins.await.unwrap(), CommitError::ApprovalExpired { .. });
}
