//! A real process is killed between `begin` and its answer.

use machine::{
    contract::{InDoubt, execution::Status},
    store::CommitError,
};
use machine_tests::{assert_err, samples::mail};

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
