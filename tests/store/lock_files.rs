//! The lock files of workers do not accumulate.

use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    process::Process,
    samples::{asked, mail},
};

use crate::store::{
    child,
    support::{Place, applied, begin, pending, recovered},
};

/// A process without permits creates no lock file.
#[tokio::test]
async fn a_reader_leaves_no_file() {
    let place = Place::new().await;
    let _ = place.created(asked("Deploy?")).await;
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(place.worker_files().len(), 0);
}

/// Dropping the store removes its lock file, if every call was answered.
#[tokio::test]
async fn a_clean_end_removes_the_file() {
    let place = Place::new().await;
    let worker = place.open_again().await;
    let id = place.stored(mail("bob")).await.id();
    let (running, permit) = begin(&worker, pending(&worker, id).await).await.unwrap();
    assert_eq!(place.worker_files().len(), 1);
    let outcome = applied(permit, "sent").await;
    let _ = worker.settle(running, outcome, tool_node()).await.unwrap();
    assert_eq!(place.worker_files().len(), 1);
    drop(worker);
    assert_eq!(place.worker_files().len(), 0);
}

/// A worker that ends without an answer leaves its file: that it is not locked proves that the
/// worker has ended. Another caller that lost the race to begin the same execution does not remove
/// it. Once the end is recorded, the file is of no use.
#[tokio::test]
async fn the_file_of_an_unanswered_call_is_a_proof() {
    for has_loser in [false, true] {
        let place = Place::new().await;
        let worker = place.open_again().await;
        let id = place.stored(mail("bob")).await.id();
        let stale = pending(&worker, id).await;
        let (_running, permit) = begin(&worker, pending(&worker, id).await).await.unwrap();
        if has_loser {
            assert!(begin(&worker, stale).await.is_err());
        }
        drop(permit);
        drop(worker);
        let files = place.worker_files();
        assert_eq!(files.len(), 1);
        let text = std::fs::read_to_string(&files[0]).unwrap();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["pid"], std::process::id());
        let doubt = place.recovered().await.pop().unwrap();
        assert_eq!(place.worker_files().len(), 0);
        let _ = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    }
}

/// `recover` removes the lock file of a killed worker when it parks its executions, also if the
/// worker had settled all of its calls.
#[tokio::test]
async fn recover_removes_the_files_of_the_dead() {
    let kills: [fn(&std::path::Path, machine::Id); 2] =
        [child::begin_and_be_killed, child::settle_and_be_killed];
    for (kill, doubts) in kills.into_iter().zip([1, 0]) {
        let place = Place::new().await;
        let id = place.stored(mail("bob")).await.id();
        kill(&place.file(), id);
        assert_eq!(place.worker_files().len(), 1);
        assert_eq!(place.recovered().await.len(), doubts);
        assert_eq!(place.worker_files().len(), 0);
    }
}

/// A worker that was parked while it was alive keeps its file until its end is recorded.
#[tokio::test]
async fn the_file_stays_until_the_end_is_on_record() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let other = child::begins_elsewhere(&place.file(), id);
    let _ = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    assert_eq!(place.recovered().await.len(), 1);
    assert_eq!(place.worker_files().len(), 1, "it is alive");
    other.kill();
    assert_eq!(place.worker_files().len(), 1);
    let doubt = place.recovered().await.pop().unwrap();
    assert_eq!(place.worker_files().len(), 0);
    let _ = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
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

/// Only lock files of workers are removed: a file whose name begins like one may be another store,
/// and ours say that they are.
#[tokio::test]
async fn a_file_that_is_not_a_lock_file_stays() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let others = ["archive.db", "", "1.new", &id.to_string()];
    let others = others.map(|name| place.folder().join(format!("agent.db-worker-{name}")));
    for other in &others {
        std::fs::write(other, "mine").unwrap();
    }
    assert!(machine::store::Store::sqlite(&others[0]).await.is_err(), "it is no store");
    place.recovered().await;
    for other in &others {
        assert_eq!(std::fs::read(other).unwrap(), b"mine", "{}", other.display());
    }
}

/// `recover` opens no file of SQLite: closing it again would drop the locks of this process, and
/// the next process to close would take itself for the last one, and delete the log under this one.
#[tokio::test]
async fn recover_leaves_the_locks_of_the_database_alone() {
    let place = Place::new().await;
    let _ = place.stored(mail("ann")).await;
    assert_eq!(place.recovered().await.len(), 0);
    Process::start("store::child::opens_and_closes", &place.file()).join();
    let log = place.folder().join("agent.db-wal");
    assert!(log.exists(), "the log was deleted, and this process still writes to it");
    let id = place.stored(mail("bob")).await.id();
    let elsewhere = place.open_again().await;
    assert_eq!(pending(&elsewhere, id).await.id(), id);
}
