//! The log is moved in the middle of a commit.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use machine::{effects::EffectError, store::Unavailable};
use machine_tests::assert_err;

use crate::{
    machines::Meter,
    support::{alone, assert_file_intact, new_file, options},
};

/// The location of the commit is unknown, or whether it was written: then the store does not make
/// another log when it opens the file again to find out. When the log is back, the commit is there,
/// once, also for others.
#[test]
fn a_commit_to_a_log_that_was_moved_is_not_acknowledged() {
    alone("moved::a_commit_to_a_log_that_was_moved_is_not_acknowledged", async || {
        for point in ["store-commit", "store-reopen"] {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            store.create(&mut Meter::new()).await.unwrap();
            let (log, away) = (file.with_file_name("agent.db-wal"), file.with_file_name("away"));
            let (from, to, moved) = (log.clone(), away.clone(), AtomicBool::new(false));
            let moves = move || {
                if !moved.swap(true, Ordering::SeqCst) {
                    fs::rename(&from, &to).unwrap();
                }
            };
            if point == "store-reopen" {
                let fails = format!("1*return({})", rusqlite::ffi::SQLITE_IOERR_FSYNC);
                fail::cfg("store-commit", &fails).unwrap();
            }
            fail::cfg_callback(point, moves).unwrap();
            let mut meter = Meter::new();
            let refused = store.create(&mut meter).await;
            assert_err!(refused, EffectError::Unavailable(Unavailable::Indeterminate(_)));
            fail::remove(point);
            assert!(!log.exists(), "{point}: it made a log");
            fs::rename(away, &log).unwrap();
            store.create(&mut meter).await.unwrap();
            store.close().await.unwrap();
            let store = options().sqlite(&file).await.unwrap();
            assert_eq!(store.history(meter.id()).await.unwrap().entries.len(), 1, "{point}");
            store.close().await.unwrap();
            assert_file_intact(&file);
        }
    });
}
