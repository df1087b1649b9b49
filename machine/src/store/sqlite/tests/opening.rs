use std::sync::Barrier;

use super::*;
use crate::store::error::OpenError;

fn refused(path: &Path) -> OpenError {
    super::super::open(path, settings()).map(drop).unwrap_err()
}

#[test]
fn files_of_others_are_refused_and_not_changed() {
    let place = Place::new();
    let path = place.path();
    std::fs::write(&path, "some text that is not a database").unwrap();
    assert_eq!(refused(&path), OpenError::NotADatabase { path: path.clone() });
    std::fs::remove_file(&path).unwrap();

    // One with a write-ahead log that its program has not folded in yet.
    let other = place.raw();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    let copy = Place::new();
    for file in place.files() {
        std::fs::copy(place.0.path().join(&file), copy.0.path().join(&file)).unwrap();
    }
    let read = |path: &Path| {
        (std::fs::read(path).unwrap(), std::fs::read(super::super::inspect::wal(path)).unwrap())
    };
    for path in [place.path(), copy.path()] {
        let before = read(&path);
        assert_eq!(refused(&path), OpenError::OtherProgram { path: path.clone() });
        assert!(read(&path) == before);
    }
    drop(other);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(refused(&path), OpenError::OtherProgram { path: path.clone() });
    assert!(std::fs::read(&path).unwrap() == before);
    place.wait_for_one_file();
}

#[test]
fn other_formats_are_refused() {
    let place = Place::new();
    wait(place.open().close()).unwrap();
    let path = place.path();
    for (found, old) in [(1, true), (6, true), (8, false)] {
        place.raw().pragma_update(None, "user_version", found).unwrap();
        let (path, known) = (path.clone(), 7);
        let expected = if old {
            OpenError::TooOld { path, found, known }
        } else {
            OpenError::TooNew { path, found, known }
        };
        assert_eq!(refused(&place.path()), expected);
    }
}

#[test]
fn what_is_no_single_file_is_refused() {
    let place = Place::new();
    assert!(matches!(refused(Path::new(":memory:")), OpenError::CannotOpen { .. }));
    assert!(matches!(refused(place.0.path()), OpenError::CannotOpen { .. }));
    assert!(matches!(refused(&place.0.path().join("no/file.db")), OpenError::CannotOpen { .. }));
    wait(place.open().close()).unwrap();
    #[cfg(unix)]
    {
        let link = place.0.path().join("link.db");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        drop(super::super::open(&link, settings()).unwrap());
        std::fs::hard_link(place.path(), place.0.path().join("hard.db")).unwrap();
        assert!(matches!(refused(&place.path()), OpenError::HardLinked { links: 2, .. }));
    }
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
fn an_empty_file_is_a_new_store() {
    let place = Place::new();
    std::fs::write(place.path(), "").unwrap();
    let identity = place.open().identity();
    place.wait_for_one_file();
    assert_eq!(place.open().identity(), identity);
    assert_ne!(Place::new().open().identity().store, identity.store);
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
    let place = Place::new();
    let store = place.open();
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
