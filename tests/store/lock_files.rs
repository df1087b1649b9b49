//! The files in which workers show that they live do not pile up.

use machine_tests::samples::{asked, mail};

use crate::{
    child,
    support::{Place, begin, pending},
};

/// Who only reads and answers leaves no file.
#[tokio::test]
async fn a_reader_leaves_no_file() {
    let place = Place::new();
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    assert_eq!(place.worker_files().len(), 0);
}

/// A store that is dropped takes its file along.
#[tokio::test]
async fn a_clean_end_removes_the_file() {
    let place = Place::new();
    let worker = place.open_again();
    let id = place.stored(mail("bob")).await.id();
    let (_running, permit) = begin(&worker, pending(&worker, id).await).await.unwrap();
    drop(permit);
    assert_eq!(place.worker_files().len(), 1);
    drop(worker);
    assert_eq!(place.worker_files().len(), 0);
}

/// The file of one that was killed is removed by the recover that parks its executions.
#[tokio::test]
async fn recover_removes_the_file_of_the_dead() {
    let place = Place::new();
    let id = place.stored(mail("bob")).await.id();
    child::begin_and_be_killed(&place.file(), id);
    assert_eq!(place.worker_files().len(), 1);
    assert_eq!(place.store.recover().await.unwrap().len(), 1);
    assert_eq!(place.worker_files().len(), 0);
}

/// Also when the dead one had answered for everything before it was killed.
#[tokio::test]
async fn recover_removes_the_file_of_the_dead_without_debts() {
    let place = Place::new();
    let id = place.stored(mail("bob")).await.id();
    child::settle_and_be_killed(&place.file(), id);
    assert_eq!(place.worker_files().len(), 1);
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
    assert_eq!(place.worker_files().len(), 0);
}

/// A worker that lives keeps its file, whoever recovers.
#[tokio::test]
async fn the_file_of_the_living_stays() {
    let place = Place::new();
    let (_running, _permit) = place.begun(mail("bob")).await;
    let other = place.open_again();
    assert_eq!(other.recover().await.unwrap().len(), 0);
    assert_eq!(place.worker_files().len(), 1);
}
