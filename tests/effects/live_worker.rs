//! A live worker within its timeout is not fenced.

use machine::{
    contract::{Settled, execution::Status},
    store::CommitError,
};
use machine_tests::actors::tool_node;
use machine_tests::{assert_err, samples::mail};

use crate::store::support::{Place, applied, begin, on_both, recovered};

on_both! {
    a_live_worker_is_left_alone,
    the_loser_of_a_begin_does_not_bury_the_winner,
    a_permit_keeps_its_worker_alive,
}

/// Neither by its own process nor by another.
async fn a_live_worker_is_left_alone(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let before = place.dump().await;
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(recovered(&place.open_again().await).await.len(), 0);
    assert_eq!(place.dump().await, before);
    let outcome = applied(permit, "sent").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

/// A caller that loses the race to begin an execution does not make the winner look dead.
async fn the_loser_of_a_begin_does_not_bury_the_winner(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let theirs = place.pending(id).await;
    let (_running, permit) = begin(&place.store, place.pending(id).await).await.unwrap();
    assert_err!(begin(&place.store, theirs).await, CommitError::Conflict { .. });

    let found = place.recovered().await;
    assert_eq!(found.len(), 0, "a live worker was taken over");
    assert_eq!(place.status(id).await, Status::Running);
    drop(permit);
    assert_eq!(place.recovered().await.len(), 1);
}

/// A permit that outlives its store still counts as alive: its call may be in flight.
async fn a_permit_keeps_its_worker_alive(place: Place) {
    let elsewhere = place.open_again().await;
    let pending =
        crate::store::support::pending(&elsewhere, place.stored(mail("bob")).await.id()).await;
    let (_running, permit) = begin(&elsewhere, pending).await.unwrap();
    drop(elsewhere);
    let found = place.recovered().await;
    assert_eq!(found.len(), 0, "a live worker was taken over");
    drop(permit);
    assert_eq!(place.recovered().await.len(), 1);
}
