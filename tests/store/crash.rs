//! A real process is killed between `begin` and its answer.

use machine::{
    contract::{InDoubt, execution::Status},
    store::CommitError,
};
use machine_tests::actors::ann;
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};

use crate::store::{
    child::{self, Other},
    support::{Place, begin},
};

async fn crashed() -> (Place, InDoubt) {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    child::begin_and_be_killed(&place.file(), id);
    assert_eq!(place.status(id).await, Status::Running);
    let mut found = place.recovered().await;
    assert_eq!(found.len(), 1);
    (place, found.remove(0))
}

/// The execution is in doubt: WAITING, fenced, its key held. A second recover returns it again.
#[tokio::test]
async fn a_killed_process_leaves_doubt() {
    let (place, doubt) = crashed().await;
    let id = doubt.execution().id();
    assert_eq!(doubt.execution().journal().epoch(), 1);
    assert_eq!(place.status(id).await, Status::Waiting);
    assert!(doubt.question().contains("email.send → bob"), "{}", doubt.question());

    let second = begin(&place.store, place.stored(mail("bob")).await).await;
    assert_err!(second, CommitError::KeyHeld { by, .. } if *by == id);
    let again = place.recovered().await;
    assert_eq!(again[0].execution().id(), id);
    assert_eq!(again[0].execution().journal().epoch(), 1);
}

/// The action took place: COMPLETED, and never repeated.
#[tokio::test]
async fn it_had_been_done() {
    let (place, doubt) = crashed().await;
    let done = place.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();
    assert_eq!(place.status(done.id()).await, Status::Completed);
    let mut again = pending_mail("bob");
    assert_err!(place.store.create(&mut again).await, CommitError::AlreadyDone { .. });
}

/// The action did not take place: FAILED, and the next attempt runs.
#[tokio::test]
async fn it_had_not_been_done() {
    let (place, doubt) = crashed().await;
    let failed = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    assert_eq!(place.status(failed.id()).await, Status::Failed);
    let _ = place.done(mail("bob")).await;
}

/// While the other process is alive, its execution is not taken over.
#[tokio::test]
async fn a_living_process_is_left_alone() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Other::start("store::child::begins", &place.file(), &[id]);
    other.wait_for("begun");
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.status(id).await, Status::Running);
    other.kill();
    assert_eq!(place.recovered().await.len(), 1);
}

/// A process that exits normally, but without an answer, also leaves its execution in doubt.
#[tokio::test]
async fn an_orderly_end_without_an_answer_leaves_doubt() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Other::start("store::child::begins", &place.file(), &[id]);
    other.wait_for("begun");
    other.go();
    other.join();
    let found = place.recovered().await;
    assert_eq!(found[0].execution().id(), id);
}
