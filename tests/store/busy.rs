//! Another process holds the lock on the file.

use machine_tests::actors::tool_node;
use std::time::Duration;

use machine::{
    contract::{AnyExecution, Settled, execution::Status},
    store::{CommitError, OpenError, OpenOptions, Query, Store},
    typed::Refused,
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::store::support::{Place, applied, lines, pending, recovered};

/// A store with a short busy timeout.
async fn impatient(place: &Place) -> Store {
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(10));
    options.sqlite(place.file()).await.unwrap()
}

/// Asserts that another process has the file locked.
fn assert_busy<T: std::fmt::Debug>(result: &Result<T, CommitError>) {
    assert_err!(result, CommitError::Unavailable(error) if error.is_busy());
}

/// A commit fails with `Busy` and leaves the machine unchanged; it can be retried.
#[tokio::test]
async fn a_busy_commit_can_be_retried() {
    let place = Place::new().await;
    let store = impatient(&place).await;
    let mut running = place.stored(read("a.txt")).await.start(tool_node());
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for _ in 0..2 {
        assert_busy(&store.commit(&mut running).await);
        assert_eq!(running.journal().uncommitted().len(), 1);
    }
    let mut new = pending_mail("bob");
    assert_busy(&store.create(&mut new).await);
    assert_eq!(new.journal().version(), 0);

    holder.execute_batch("ROLLBACK").unwrap();
    store.commit(&mut running).await.unwrap();
    store.create(&mut new).await.unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// A begin issues no permit and gives the execution back; it can be retried.
#[tokio::test]
async fn a_begin_gives_no_permit() {
    let place = Place::new().await;
    let store = impatient(&place).await;
    let id = place.stored(mail("bob")).await.id();
    let mine = pending(&store, id).await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let Err(Refused { machine: mine, reason }) = store.begin(mine, tool_node()).await else {
        panic!("the file was held");
    };
    assert_busy(&Err::<(), _>(reason));
    assert!(mine.execution().journal().uncommitted().is_empty());
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(place.status(id).await, Status::Pending);
    let _ = store.begin(mine, tool_node()).await.unwrap();
}

/// A receipt is not lost: the refusal returns it, and it can be settled again.
#[tokio::test]
async fn a_receipt_is_not_lost() {
    let place = Place::new().await;
    let store = impatient(&place).await;
    let pending = pending(&store, place.stored(mail("bob")).await.id()).await;
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let outcome = applied(permit, "250 queued").await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let id = running.id();
    let Err(Refused {
        machine: (running, outcome),
        reason: CommitError::Unsettled { id: of, at_stake, source },
    }) = store.settle(running, outcome, tool_node()).await
    else {
        panic!("the file was held");
    };
    assert_eq!(of, id);
    assert!(at_stake.contains("250 queued"), "{at_stake}");
    assert_busy(&Err::<(), _>(*source));
    holder.execute_batch("ROLLBACK").unwrap();
    let Settled::Completed(completed) = store.settle(running, outcome, tool_node()).await.unwrap()
    else {
        panic!("it was applied");
    };
    assert_eq!(place.status(completed.id()).await, Status::Completed);
}

/// No `recover` takes it over in between: the outcome is still in flight in this process.
#[tokio::test]
async fn a_receipt_is_not_lost_to_a_recover_in_between() {
    let place = Place::new().await;
    let store = impatient(&place).await;
    let pending = pending(&store, place.stored(mail("bob")).await.id()).await;
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let Err(Refused { machine: (running, outcome), .. }) =
        store.settle(running, outcome, tool_node()).await
    else {
        panic!("the file was held");
    };
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(recovered(&store).await.len(), 0);
    assert_eq!(recovered(&place.open_again().await).await.len(), 0);
    let _ = store.settle(running, outcome, tool_node()).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// Readers do not wait for a writer.
#[tokio::test]
async fn readers_do_not_wait_for_a_writer() {
    let place = Place::new().await;
    let store = impatient(&place).await;
    let id = place.stored(read("a.txt")).await.id();
    let holder = place.raw();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.load::<AnyExecution>(id).await.unwrap().status(), Status::Pending);
    assert_eq!(lines(&store, &Query::new()).await.len(), 1);
}

/// Opening a new file that is locked fails with `Busy`, and works afterwards.
#[tokio::test]
async fn opening_a_new_file_can_be_busy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(10));
    let refused = options.sqlite(&file).await;
    assert_err!(refused, OpenError::Unavailable(error) if error.is_busy());
    holder.execute_batch("ROLLBACK").unwrap();
    options.sqlite(&file).await.unwrap();
}
