use std::sync::Barrier;

use super::*;
use crate::store::error::OpenError;

fn refused(path: &Path) -> OpenError {
    super::super::open(path, settings(), false).map(drop).unwrap_err()
}

#[test]
fn a_damaged_file_is_reported() {
    let place = Place::new();
    wait(place.open().close()).unwrap();
    let path = place.path();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(4096);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(refused(&path), OpenError::Damaged { path: path.clone() });
    bytes[200..4000].fill(0xff);
    bytes[100..108].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(refused(&path), OpenError::Damaged { path: path.clone() });
}

#[test]
fn threads_create_one_file_at_once() {
    let place = Place::new();
    let stores: Vec<Sqlite> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| place.open())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for store in &stores {
        stored(store, 1);
        assert_eq!(store.identity(), stores[0].identity());
    }
    assert_eq!(verify(&stores[0]), 8);
}

#[test]
fn opening_a_file_keeps_the_locks_of_this_process() {
    let (place, store) = Place::opened();
    let mut machine = stored(&store, 1);
    // Opened and closed while the first one has it open.
    for _ in 0..3 {
        wait(place.open().close()).unwrap();
    }
    assert!(super::super::inspect::wal(&place.path()).exists());
    apply(&store, vec![machine.write(1)]).unwrap();
    // Another process that closes last must not remove the log: `sqlite3` is not there on every
    // system, so this looks for the locks instead.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let inode = std::fs::metadata(place.path()).unwrap().ino().to_string();
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        let (pid, file) = (format!(" {} ", std::process::id()), format!(":{inode} "));
        let held = locks.lines().any(|line| line.contains(&pid) && line.contains(&file));
        assert!(locks.is_empty() || held, "{inode}: {locks}");
    }
}

/// SQLite creates the database before its journal, so opening must look for the journal first.
#[test]
fn the_journal_of_a_database_that_is_being_created_is_no_leftover() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2000 {
        let path = folder.path().join(format!("{round}.db"));
        let journal = folder.path().join(format!("{round}.db-journal"));
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                std::fs::write(&path, "").unwrap();
                std::fs::write(&journal, "changes").unwrap();
            });
            together.wait();
            for _ in 0..20 {
                let found = super::super::inspect::refuse_leftovers(&path, &["-journal"]);
                assert!(found.is_ok(), "round {round}: {found:?}");
            }
        });
    }
}
