//! Files next to a database that are not of this database are left alone.

use machine::store::{OpenError, Store};
use machine_tests::assert_err;

use crate::store::support::Place;

/// A database that was moved without its log: the log has commits, and SQLite would overwrite it.
#[tokio::test]
async fn the_log_of_a_moved_database_is_not_overwritten() {
    for name in ["agent.db-wal", "agent.db-journal"] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(name);
        std::fs::write(&log, "commits").unwrap();
        let refused = Store::sqlite(folder.path().join("agent.db")).await;
        assert_err!(refused, OpenError::Leftover { other, .. } if *other == log);
        assert_eq!(std::fs::read(&log).unwrap(), b"commits");
        assert!(!folder.path().join("agent.db").exists());
    }
}

/// The name of a lock file does not make a file ours: ours say so.
#[tokio::test]
async fn a_file_with_content_is_no_lock_file() {
    let place = Place::new().await;
    let id = place.stored(machine_tests::samples::mail("bob")).await.id();
    let mut diary = place.file().into_os_string();
    diary.push(format!("-worker-{id}"));
    std::fs::write(&diary, "my diary").unwrap();
    place.store.recover().await.unwrap();
    assert_eq!(std::fs::read(&diary).unwrap(), b"my diary");
}
