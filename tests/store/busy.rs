//! Another process holds the lock on the file.

use std::time::Duration;

use machine::{
    actor::ToolNode,
    contract::{AnyExecution, Settled, execution::Status},
    store::{OpenOptions, SqliteStore, StoreError},
    typed::Refused,
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::support::{Place, applied, pending};

/// A store with a short busy timeout.
fn impatient(place: &Place) -> SqliteStore {
    OpenOptions::new().busy_timeout(Duration::from_millis(10)).open(place.file()).unwrap()
}

/// A commit fails with `Busy` and leaves the machine unchanged; it can be retried.
#[tokio::test]
async fn a_busy_commit_can_be_retried() {
    let place = Place::new();
    let store = impatient(&place);
    let mut running = place.stored(read("a.txt")).await.start(&ToolNode);
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for _ in 0..2 {
        assert_err!(store.commit(&mut running).await, StoreError::Busy);
        assert_eq!(running.journal().uncommitted().len(), 1);
    }
    let mut new = pending_mail("bob");
    assert_err!(store.create(&mut new).await, StoreError::Busy);
    assert_eq!(new.journal().version(), 0);

    holder.execute_batch("ROLLBACK").unwrap();
    store.commit(&mut running).await.unwrap();
    store.create(&mut new).await.unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// A begin issues no permit; it can be retried.
#[tokio::test]
async fn a_begin_gives_no_permit() {
    let place = Place::new();
    let store = impatient(&place);
    let id = place.stored(mail("bob")).await.id();
    let mine = pending(&store, id).await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_err!(store.begin(mine, &ToolNode).await, StoreError::Busy);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(place.status(id).await, Status::Pending);
    let _ = store.begin(pending(&store, id).await, &ToolNode).await.unwrap();
}

/// A receipt is not lost: the refusal returns it, and it can be settled again.
#[tokio::test]
async fn a_receipt_is_not_lost() {
    let place = Place::new();
    let store = impatient(&place);
    let pending = pending(&store, place.stored(mail("bob")).await.id()).await;
    let (running, permit) = store.begin(pending, &ToolNode).await.unwrap();
    let outcome = applied(permit, "250 queued").await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let Err(Refused { machine: (running, outcome), reason: StoreError::Busy }) =
        store.settle(running, outcome, &ToolNode).await
    else {
        panic!("the file was held");
    };
    holder.execute_batch("ROLLBACK").unwrap();
    let Settled::Completed(completed) = store.settle(running, outcome, &ToolNode).await.unwrap()
    else {
        panic!("it was applied");
    };
    assert_eq!(place.status(completed.id()).await, Status::Completed);
}

/// No `recover` takes it over in between: the outcome is still in flight in this process.
#[tokio::test]
async fn a_receipt_is_not_lost_to_a_recover_in_between() {
    let place = Place::new();
    let store = impatient(&place);
    let pending = pending(&store, place.stored(mail("bob")).await.id()).await;
    let (running, permit) = store.begin(pending, &ToolNode).await.unwrap();
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let Err(Refused { machine: (running, outcome), .. }) =
        store.settle(running, outcome, &ToolNode).await
    else {
        panic!("the file was held");
    };
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.recover().await.unwrap().len(), 0);
    assert_eq!(place.open_again().recover().await.unwrap().len(), 0);
    let _ = store.settle(running, outcome, &ToolNode).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// Readers do not wait for a writer.
#[tokio::test]
async fn readers_do_not_wait_for_a_writer() {
    let place = Place::new();
    let store = impatient(&place);
    let id = place.stored(read("a.txt")).await.id();
    let holder = place.raw();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.load::<AnyExecution>(id).await.unwrap().status(), Status::Pending);
    assert_eq!(store.list(None).await.unwrap().len(), 1);
}

/// Opening a new file that is locked fails with `Busy`, and works afterwards.
#[test]
fn opening_a_new_file_can_be_busy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(10));
    assert_err!(options.open(&file), StoreError::Busy);
    holder.execute_batch("ROLLBACK").unwrap();
    options.open(&file).unwrap();
}
