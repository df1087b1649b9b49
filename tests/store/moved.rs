//! A file that is moved, deleted or replaced while it is open.
#![cfg(unix)]

use std::fs;

use machine::{
    Id,
    contract::{AnyExecution, Settled, execution::Status},
    effects::EffectError,
    store::{BackupError, LoadError, OpenOptions, Query, Store, Unavailable},
};
use machine_tests::{
    actors::tool_node,
    assert_err,
    samples::{mail, pending_mail},
};

use crate::store::support::{Place, applied};

/// The change to the file.
#[derive(Clone, Copy)]
enum Change {
    Moved,
    Deleted,
    Replaced,
}

#[tokio::test]
async fn a_missing_file_is_neither_read_nor_written() {
    for change in [Change::Moved, Change::Deleted, Change::Replaced] {
        let folder = tempfile::tempdir().unwrap();
        let (file, elsewhere) = (folder.path().join("agent.db"), folder.path().join("old.db"));
        let store = Store::sqlite(&file).await.unwrap();
        let mut first = pending_mail("a@example.com");
        store.create(&mut first).await.unwrap();
        match change {
            Change::Moved => fs::rename(&file, &elsewhere).unwrap(),
            Change::Deleted => fs::remove_file(&file).unwrap(),
            Change::Replaced => {
                fs::copy(&file, &elsewhere).unwrap();
                fs::rename(&elsewhere, &file).unwrap();
            }
        }
        for _ in 0..2 {
            let mut second = pending_mail("b@example.com");
            let error = store.create(&mut second).await.unwrap_err();
            assert!(error.to_string().contains("moved, deleted or replaced"), "{error}");
            assert!(matches!(error, EffectError::Unavailable(_)));
        }
        let read = store.load::<AnyExecution>(first.id()).await.unwrap_err();
        assert!(matches!(&read, LoadError::Unavailable(Unavailable::Moved)), "{read}");
        assert!(store.position().await.is_err());
        // It is the file that counts, not the name.
        if let Change::Moved = change {
            fs::rename(&elsewhere, &file).unwrap();
            let mut second = pending_mail("b@example.com");
            store.create(&mut second).await.unwrap();
            assert!(store.load::<AnyExecution>(second.id()).await.is_ok());
        }
    }
}

/// The log, deleted or replaced while the file is open: what would be written to it is lost, so it
/// is refused, and an outcome is given back.
#[tokio::test]
async fn a_lost_log_is_neither_read_nor_written() {
    for replaced in [false, true] {
        let place = Place::new().await;
        let (running, permit) = place.begun(mail("bob")).await;
        let outcome = applied(permit, "sent").await;
        let id = running.id();
        let log = place.file().with_file_name("agent.db-wal");
        let away = place.file().with_file_name("away");
        fs::rename(&log, &away).unwrap();
        if replaced {
            fs::copy(&away, &log).unwrap();
        }
        let error = place.store.create(&mut pending_mail("carol")).await.unwrap_err();
        assert!(error.to_string().contains("moved, deleted or replaced"), "{error}");
        // So many at once that the store would open more connections, also after the log is back.
        for read in read_at_once(&place.store, id).await {
            assert_err!(read, LoadError::Unavailable(Unavailable::Moved));
        }
        let copied = place.store.backup(place.folder().join("copy.db"), |_| {}).await;
        assert_err!(copied, BackupError::Unavailable(Unavailable::Moved));
        assert_eq!(log.exists(), replaced, "it made a log");
        let refused = place.store.settle(running, outcome, tool_node()).await.unwrap_err();
        let (running, outcome) = refused.machine;
        // It is the log that counts, not its name.
        fs::rename(&away, &log).unwrap();
        assert!(matches!(place.settled(running, outcome).await, Settled::Completed(_)));
        for read in read_at_once(&place.store, id).await {
            assert_eq!(read.unwrap().status(), Status::Completed);
        }
        place.assert_intact().await;
        let place = place.reopened().await;
        assert_eq!(place.status(id).await, Status::Completed);
    }
}

async fn read_at_once(store: &Store, id: Id) -> Vec<Result<AnyExecution, LoadError>> {
    let reads = (0..50).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.load::<AnyExecution>(id).await })
    });
    let mut all = Vec::new();
    for read in reads.collect::<Vec<_>>() {
        all.push(read.await.unwrap());
    }
    all
}

/// An observer switches to the file that now has the name, if that is the same store.
#[tokio::test]
async fn an_observer_follows_the_name() {
    for in_use in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let writer = Store::sqlite(path("agent.db")).await.unwrap();
        writer.create(&mut pending_mail("a@example.com")).await.unwrap();
        writer.backup(path("backup.db"), |_| {}).await.unwrap();
        writer.create(&mut pending_mail("b@example.com")).await.unwrap();
        if !in_use {
            writer.close().await.unwrap();
        }
        let observer = OpenOptions::new().read_only(path("agent.db")).await.unwrap();
        assert_eq!(observer.list(&Query::new()).await.unwrap().items.len(), 2);
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(path(&format!("agent.db{suffix}")));
        }
        assert!(observer.list(&Query::new()).await.is_err(), "in use: {in_use}");
        // The same store, as it was.
        fs::copy(path("backup.db"), path("agent.db")).unwrap();
        assert_eq!(observer.list(&Query::new()).await.unwrap().items.len(), 1);
        // Put to use, it is another one.
        let restored = Store::sqlite(path("agent.db")).await.unwrap();
        restored.create(&mut pending_mail("c@example.com")).await.unwrap();
        assert!(observer.list(&Query::new()).await.is_err(), "in use: {in_use}");
    }
}
