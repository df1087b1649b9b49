//! The lock files of workers do not accumulate.

use machine_tests::samples::{asked, mail};

use crate::{
    child,
    support::{Place, begin, pending, recovered},
};

/// A process without permits creates no lock file.
#[tokio::test]
async fn a_reader_leaves_no_file() {
    let place = Place::new().await;
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.worker_files().len(), 0);
}

/// Dropping the store removes its lock file.
#[tokio::test]
async fn a_clean_end_removes_the_file() {
    let place = Place::new().await;
    let worker = place.open_again().await;
    let id = place.stored(mail("bob")).await.id();
    let (_running, permit) = begin(&worker, pending(&worker, id).await).await.unwrap();
    drop(permit);
    assert_eq!(place.worker_files().len(), 1);
    drop(worker);
    assert_eq!(place.worker_files().len(), 0);
}

/// `recover` removes the lock file of a killed worker when it parks its executions.
#[tokio::test]
async fn recover_removes_the_file_of_the_dead() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    child::begin_and_be_killed(&place.file(), id);
    assert_eq!(place.worker_files().len(), 1);
    assert_eq!(place.recovered().await.len(), 1);
    assert_eq!(place.worker_files().len(), 0);
}

/// Also if the killed worker had settled all of its calls.
#[tokio::test]
async fn recover_removes_the_file_of_the_dead_without_debts() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    child::settle_and_be_killed(&place.file(), id);
    assert_eq!(place.worker_files().len(), 1);
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.worker_files().len(), 0);
}

/// A live worker keeps its lock file when another process recovers.
#[tokio::test]
async fn the_file_of_the_living_stays() {
    let place = Place::new().await;
    let (_running, _permit) = place.begun(mail("bob")).await;
    let other = place.open_again().await;
    assert_eq!(recovered(&other).await.len(), 0);
    assert_eq!(place.worker_files().len(), 1);
}

/// Only lock files of workers are removed: a file whose name begins like one may be another store.
#[tokio::test]
async fn a_file_that_is_not_a_lock_file_stays() {
    let place = Place::new().await;
    let others = ["agent.db-worker-archive.db", "agent.db-worker-", "agent.db-worker-1.new"];
    for name in others {
        std::fs::write(place.folder().join(name), "mine").unwrap();
    }
    let another = machine::store::Store::sqlite(place.folder().join(others[0])).await;
    assert!(another.is_err(), "it is no store");
    place.recovered().await;
    for name in others {
        assert!(place.folder().join(name).exists(), "{name} was removed");
    }
}
