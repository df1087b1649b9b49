//! A file that is moved, deleted or replaced while it is open.
#![cfg(unix)]

use std::fs;

use machine::{
    contract::{AnyExecution, Execution},
    store::{CommitError, Store},
};
use machine_tests::samples::pending_mail;

/// What takes the place of the file.
#[derive(Clone, Copy)]
enum Change {
    Moved,
    Deleted,
    Replaced,
}

#[tokio::test]
async fn nothing_is_written_to_a_file_that_nobody_finds() {
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
            assert!(matches!(error, CommitError::Unavailable(_)));
        }
        // It is the file that counts, not the name.
        if let Change::Moved = change {
            fs::rename(&elsewhere, &file).unwrap();
            let mut second: Execution<_> = pending_mail("b@example.com");
            store.create(&mut second).await.unwrap();
            assert!(store.load::<AnyExecution>(second.id()).await.is_ok());
        }
    }
}
