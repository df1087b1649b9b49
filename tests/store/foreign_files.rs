//! Files of other programs, and of newer versions.

use std::{fs, process::Stdio};

use machine::store::{OpenError, Store};
use machine_tests::assert_err;

use crate::store::child;

/// Another program's database is refused and left unchanged, byte for byte.
#[tokio::test]
async fn another_programs_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, setup) in [
        ("tables.db", "CREATE TABLE instance (id TEXT); INSERT INTO instance VALUES ('a')"),
        ("marked.db", "PRAGMA application_id = 77"),
        ("versioned.db", "PRAGMA user_version = 3"),
        ("wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)"),
    ] {
        let file = folder.path().join(name);
        let theirs = rusqlite::Connection::open(&file).unwrap();
        theirs.execute_batch(setup).unwrap();
        theirs.close().unwrap();
        let before = fs::read(&file).unwrap();
        assert_err!(Store::sqlite(&file).await, OpenError::OtherProgram { path } if *path == file);
        assert_eq!(fs::read(&file).unwrap(), before, "{name}");
    }
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 4, "it left files behind");
}

/// Also if that program crashed and its last writes are in its WAL.
#[tokio::test]
async fn a_crashed_programs_wal_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (live, file) = (folder.path().join("live.db"), folder.path().join("crashed.db"));
    let theirs = rusqlite::Connection::open(&live).unwrap();
    let setup = "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)";
    theirs.execute_batch(setup).unwrap();
    fs::copy(&live, &file).unwrap();
    fs::copy(folder.path().join("live.db-wal"), folder.path().join("crashed.db-wal")).unwrap();
    let state = || (fs::read(&file).unwrap(), fs::read(folder.path().join("crashed.db-wal")).ok());
    let before = state();
    assert_err!(Store::sqlite(&file).await, OpenError::OtherProgram { .. });
    assert!(state() == before, "the other program's database was written to");
}

/// A newer format is refused with both numbers, and the file is left unchanged.
#[tokio::test]
async fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    let raw = rusqlite::Connection::open(&file).unwrap();
    raw.pragma_update(None, "user_version", 999).unwrap();
    assert_err!(Store::sqlite(&file).await, OpenError::TooNew { found: 999, known: 7, .. });
    let found: i64 = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 999);
}

/// A file name that looks like a URI is used as a file name. Runs in its own process, because it
/// needs its own working directory.
#[tokio::test]
async fn a_name_is_not_a_uri() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let name = std::path::Path::new("file:agent.db?mode=rwc");
    let child = child::command(&program, "store::foreign_files::opens", name)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(
        child.status.success() && files == [name.as_os_str()],
        "made {files:?}; {}{}",
        String::from_utf8_lossy(&child.stdout),
        String::from_utf8_lossy(&child.stderr),
    );
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn opens() {
    let (file, _) = child::given();
    Store::sqlite(file).await.unwrap().close().await.unwrap();
}

/// A second name of the file would have a separate write-ahead log.
#[cfg(unix)]
#[tokio::test]
async fn hard_links_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("agent.db"), folder.path().join("other.db"));
    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    std::fs::hard_link(&file, &other).unwrap();
    for path in [&file, &other] {
        assert_err!(Store::sqlite(path).await, OpenError::HardLinked { links: 2, .. });
    }
    std::fs::remove_file(&other).unwrap();
    Store::sqlite(&file).await.unwrap();
}
