//! A journal that has to be rolled back, left by a process that ended in a transaction without a
//! write-ahead log.

use std::{
    fs,
    path::{Path, PathBuf},
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use machine_tests::{assert_err, samples::Ticket, stores::assert_intact};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::store::{
    files::APPLICATION_ID,
    support::{content, names, new_file},
};

/// A copy of a file and its journal in the middle of a transaction, of which half is in the file.
fn interrupted(file: &Path, begin: &str) -> (TempDir, PathBuf) {
    let raw = Connection::open(file).unwrap();
    // With a cache of a few pages, changes are written before the commit.
    raw.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; BEGIN").unwrap();
    raw.execute_batch(begin).unwrap();
    raw.execute_batch(
        "CREATE TABLE filler (x);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
         INSERT INTO filler SELECT randomblob(1000) FROM n;",
    )
    .unwrap();
    let (folder, copy) = new_file();
    let journal = |file: &Path| file.with_file_name("agent.db-journal");
    fs::copy(file, &copy).unwrap();
    fs::copy(journal(file), journal(&copy)).unwrap();
    assert_ne!(fs::read(journal(&copy)).unwrap()[0], 0, "it need not be rolled back");
    (folder, copy)
}

/// A store whose creation was interrupted is created.
#[tokio::test]
async fn an_interrupted_creation_is_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let begin = format!("PRAGMA application_id = {APPLICATION_ID}");
    let (_folder, file) = interrupted(&folder.path().join("agent.db"), &begin);
    assert!(fs::metadata(&file).unwrap().len() > 4096);

    let refused = OpenOptions::new().must_exist().sqlite(&file).await;
    assert_err!(refused, OpenError::CannotOpen { reason, .. } if reason.contains("contains no store yet"));
    let store = Store::sqlite(&file).await.unwrap();
    store.create(&mut Ticket::new()).await.unwrap();
    assert_intact(&store).await;
}

/// A store in which another tool was interrupted is as it was before. A reader does not roll back,
/// and says what to do.
#[tokio::test]
async fn an_interrupted_change_is_rolled_back() {
    let (_folder, whole) = new_file();
    let store = Store::sqlite(&whole).await.unwrap();
    store.create(&mut Ticket::new()).await.unwrap();
    store.close().await.unwrap();
    let (_folder, file) = interrupted(&whole, "DROP TABLE tool");

    let before = fs::read(&file).unwrap();
    let refused = OpenOptions::new().read_only(&file).await;
    assert_err!(refused, OpenError::CannotOpen { reason, .. } if reason.contains("open it once for writing"));
    assert!(fs::read(&file).unwrap() == before, "it was written to");

    let store = OpenOptions::new().must_exist().sqlite(&file).await.unwrap();
    assert_eq!(store.list(&Query::new()).await.unwrap().items.len(), 1);
    store.create(&mut Ticket::new()).await.unwrap();
    assert_intact(&store).await;
    let reader = OpenOptions::new().read_only(&file).await.unwrap();
    assert_eq!(reader.list(&Query::new()).await.unwrap().items.len(), 2);
}

/// The file of another program is not rolled back.
#[tokio::test]
async fn the_journal_of_another_program_is_left_alone() {
    let (_theirs, theirs) = new_file();
    Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let (folder, file) = interrupted(&theirs, "INSERT INTO t VALUES (1)");
    let before = content(folder.path());
    assert_err!(Store::sqlite(&file).await, OpenError::OtherProgram { .. });
    assert_err!(OpenOptions::new().read_only(&file).await, OpenError::OtherProgram { .. });
    assert!(content(folder.path()) == before, "it was written to");
}

/// The next opening removes the remains of a new file that a killed process left; other files stay.
#[tokio::test]
async fn leftovers_of_a_new_file_are_removed() {
    let (folder, file) = new_file();
    let other = folder.path().join("other.db");
    Store::sqlite(&other).await.unwrap().close().await.unwrap();
    let store = fs::read(&other).unwrap();
    let id = Ticket::new().id();
    let left = |suffix: &str| folder.path().join(format!("agent.db-new-{suffix}"));
    for suffix in [id.to_string(), format!("{}.left", Ticket::new().id())] {
        fs::write(left(&suffix), &store[..8192]).unwrap();
    }
    fs::write(left(&Ticket::new().id().to_string()), "").unwrap();
    let kept = [left("diary"), left(&Ticket::new().id().to_string())];
    fs::write(&kept[0], &store).unwrap();
    fs::write(&kept[1], "Dear diary").unwrap();

    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    let mut expected = vec![file, other, kept[0].clone(), kept[1].clone()];
    expected.sort();
    let names = names(folder.path()).into_iter().map(|name| folder.path().join(name));
    assert_eq!(names.collect::<Vec<_>>(), expected);
}
