//! The log is deleted in the middle of a commit.

use machine::store::CommitError;
use machine_tests::assert_err;

use crate::{
    machines::Meter,
    process::alone,
    support::{new_file, options},
};

/// The location of the commit is unknown. When the log is back, the commit is there, once.
#[test]
fn a_commit_to_a_log_that_was_moved_is_not_acknowledged() {
    alone("moved::a_commit_to_a_log_that_was_moved_is_not_acknowledged", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        let (log, away) = (file.with_file_name("agent.db-wal"), file.with_file_name("away"));
        let (from, to) = (log.clone(), away.clone());
        fail::cfg_callback("store-commit", move || std::fs::rename(&from, &to).unwrap()).unwrap();
        let mut meter = Meter::new();
        let refused = store.create(&mut meter).await;
        assert_err!(refused, CommitError::Unavailable(error) if error.is_indeterminate());
        fail::remove("store-commit");
        std::fs::rename(away, log).unwrap();
        store.create(&mut meter).await.unwrap();
        assert_eq!(store.history(meter.id()).await.unwrap().entries.len(), 1);
    });
}
