//! A store that only reads: it sees what others commit, and changes nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use machine::{
    contract::{AnyExecution, execution::Status},
    store::{CommitError, LoadError, OpenError, OpenOptions, Query, Store, Subscription},
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket, mail, pending_mail, read},
};
use tempfile::TempDir;

use crate::store::{
    child::{self, Other, WRITTEN},
    support::{Place, begin, lines, pending},
};

async fn observer(file: &Path) -> Store {
    OpenOptions::new().read_only(file).await.unwrap()
}

/// Each file in the folder with its content, apart from the shared memory of the log, which every
/// reader of a log uses.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let kept = files.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    kept.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// A closed file with some machines.
async fn at_rest() -> (TempDir, PathBuf) {
    let place = Place::new().await;
    for number in 0..5 {
        let _ = place.stored(read(&format!("{number}.txt"))).await;
    }
    place.store.close().await.unwrap();
    let file = place.file();
    (place.folder.unwrap(), file)
}

/// Reads everything in every way.
async fn read_all(store: &Store) -> usize {
    let lines = lines(store, &Query::new()).await;
    for line in &lines {
        store.load::<AnyExecution>(line.id).await.unwrap();
        store.history(line.id).await.unwrap();
    }
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    lines.len()
}

/// Waits for the number of entries in a subscription.
async fn next(subscription: &mut Subscription, count: usize) {
    for number in 0..count {
        let next = tokio::time::timeout(Duration::from_secs(20), subscription.next()).await;
        next.unwrap_or_else(|_| panic!("only {number} of {count}")).unwrap();
    }
}

/// A file at rest is read without a trace: nothing in it changes, and no file appears.
#[tokio::test]
async fn a_file_at_rest_stays_as_it_is() {
    let (folder, file) = at_rest().await;
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let store = observer(&file).await;
    let mut entries = store.subscribe(None).await.unwrap();
    next(&mut entries, 5).await;
    assert_eq!(read_all(&store).await, 5);
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    store.close().await.unwrap();
    assert_eq!(files(folder.path()), before);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a file was created");
}

/// Every write says that the store only reads, and nothing is written.
#[tokio::test]
async fn writes_are_refused() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let (running, _permit) = place.begun(mail("carol")).await;
    let mut ticket = Ticket::new();
    place.store.create(&mut ticket).await.unwrap();
    let store = observer(&place.file()).await;
    let before = (place.dump().await, files(place.folder()).into_keys().collect::<Vec<_>>());

    let is_read_only = |error: &CommitError| matches!(error, CommitError::Unavailable(error) if error.is_read_only());
    let created = store.create(&mut pending_mail("dave")).await;
    assert!(is_read_only(created.as_ref().unwrap_err()), "{created:?}");
    let text = created.unwrap_err().to_string();
    assert!(text.contains("reading only") && text.contains("nothing was written"), "{text}");
    let begun = begin(&store, pending(&store, id).await).await;
    assert!(is_read_only(begun.as_ref().unwrap_err()), "{begun:?}");
    let moved = store.load::<AnyTicket>(ticket.id()).await.unwrap();
    let AnyTicket::Open(open) = moved else { panic!("{moved:?}") };
    let committed = store.commit(&mut open.park()).await;
    assert!(is_read_only(committed.as_ref().unwrap_err()), "{committed:?}");
    assert_eq!(store.recover().await.unwrap().in_doubt.len(), 0, "its worker is alive");
    assert_eq!(store.load::<AnyExecution>(running.id()).await.unwrap().status(), Status::Running);

    assert_eq!((place.dump().await, files(place.folder()).into_keys().collect::<Vec<_>>()), before);
}

/// Commits of other processes are seen, also by a subscription that waits.
#[tokio::test]
async fn it_sees_what_others_commit() {
    let place = Place::new().await;
    let _ = place.stored(read("1.txt")).await;
    let store = observer(&place.file()).await;
    let mut entries = store.subscribe(None).await.unwrap();
    next(&mut entries, 1).await;
    let mut other = Other::start("store::child::writes", &place.file(), &[]);
    other.wait_for("ready");
    other.go();
    next(&mut entries, 2 * WRITTEN).await;
    other.join();
    assert_eq!(lines(&store, &Query::new()).await.len(), 1 + WRITTEN);
}

/// A file that was at rest when it was opened, and is written, closed and written again later.
#[tokio::test]
async fn it_notices_that_others_begin_to_write() {
    let (_folder, file) = at_rest().await;
    let store = observer(&file).await;
    let mut entries = store.subscribe(None).await.unwrap();
    next(&mut entries, 5).await;
    for round in 1..=4 {
        let writer = Store::sqlite(&file).await.unwrap();
        writer.create(&mut Ticket::new()).await.unwrap();
        if round % 2 == 0 {
            writer.close().await.unwrap();
        }
        next(&mut entries, 1).await;
        assert_eq!(lines(&store, &Query::new()).await.len(), 5 + round);
    }
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// While others open the file, write, and close it again and again, every read is of one moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_are_whole_while_others_come_and_go() {
    let (_folder, file) = at_rest().await;
    let store = observer(&file).await;
    let writes = tokio::spawn({
        let file = file.clone();
        async move {
            for _ in 0..15 {
                let writer = Store::sqlite(&file).await.unwrap();
                for _ in 0..3 {
                    let mut ticket = Ticket::new();
                    writer.create(&mut ticket).await.unwrap();
                    writer.commit(&mut ticket.park()).await.unwrap();
                }
                // The observer may be reading, and then the log stays.
                let _ = writer.close().await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let mut most = 0;
    while !writes.is_finished() {
        let found = lines(&store, &Query::new()).await.len();
        assert!(found >= most, "{found} after {most}");
        most = found;
        let report = store.verify_all(|_| {}).await.unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
    }
    writes.await.unwrap();
    assert_eq!(lines(&store, &Query::new()).await.len(), 5 + 45);
}

/// The commits of a killed process are in its log, and are read from there.
#[tokio::test]
async fn it_reads_the_log_of_a_killed_process() {
    let place = Place::new().await;
    let file = place.file();
    place.store.close().await.unwrap();
    let mut other = Other::start("store::observer::writes_and_waits", &file, &[]);
    other.wait_for("written");
    other.kill();
    let before = files(place.folder());
    assert!(before.len() > 1, "there is a log: {:?}", before.keys());
    let store = observer(&file).await;
    assert_eq!(lines(&store, &Query::new()).await.len(), 3);
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    store.close().await.unwrap();
    assert!(files(place.folder()) == before, "it wrote to the file or to its log");
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn writes_and_waits() {
    let (file, _) = child::given();
    let store = Store::sqlite(file).await.unwrap();
    for _ in 0..3 {
        store.create(&mut Ticket::new()).await.unwrap();
    }
    child::say("written");
    child::wait();
}

/// A file that is not a store of this format is refused with the reason, and nothing is created.
#[tokio::test]
async fn what_is_no_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let open = async |name: &str| OpenOptions::new().read_only(path(name)).await;

    assert_err!(open("missing.db").await, OpenError::CannotOpen { reason, .. } if reason.contains("check the path"));
    assert_err!(open("missing/agent.db").await, OpenError::CannotOpen { .. });
    fs::create_dir(path("folder")).unwrap();
    assert_err!(open("folder").await, OpenError::CannotOpen { reason, .. } if reason.contains("not a regular file"));
    fs::write(path("empty.db"), "").unwrap();
    assert_err!(open("empty.db").await, OpenError::CannotOpen { reason, .. } if reason.contains("no store in it yet"));
    fs::write(path("text.db"), "Dear diary, ".repeat(500)).unwrap();
    assert_err!(open("text.db").await, OpenError::NotADatabase { .. });
    let theirs = rusqlite::Connection::open(path("theirs.db")).unwrap();
    theirs.execute_batch("CREATE TABLE t (a)").unwrap();
    drop(theirs);
    assert_err!(open("theirs.db").await, OpenError::OtherProgram { .. });
    Store::sqlite(path("new.db")).await.unwrap().close().await.unwrap();
    let raw = rusqlite::Connection::open(path("new.db")).unwrap();
    raw.pragma_update(None, "user_version", 999).unwrap();
    drop(raw);
    assert_err!(open("new.db").await, OpenError::TooNew { found: 999, .. });
    let key = OpenOptions::new().key([1; 32]);
    key.sqlite(path("keyed.db")).await.unwrap().close().await.unwrap();
    assert_err!(open("keyed.db").await, OpenError::OtherKey { .. });
    key.read_only(path("keyed.db")).await.unwrap();

    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["empty.db", "folder", "keyed.db", "new.db", "text.db", "theirs.db"]);
}

/// Another store in the place of the file is not taken for it.
#[tokio::test]
async fn a_file_that_is_replaced_is_noticed() {
    let ((_folder, file), (_other, theirs)) = (at_rest().await, at_rest().await);
    let store = observer(&file).await;
    fs::rename(theirs, &file).unwrap();
    assert_err!(store.list(&Query::new()).await, LoadError::Unavailable(error) if error.to_string().contains("another store"));
}

/// A path that is wrong makes no store.
#[tokio::test]
async fn a_store_that_must_exist_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let options = OpenOptions::new().must_exist();
    let refused = options.sqlite(&file).await;
    assert_err!(refused, OpenError::CannotOpen { path, reason } if *path == file && reason.contains("check the path"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(&file, "").unwrap();
    assert_err!(options.sqlite(&file).await, OpenError::CannotOpen { reason, .. } if reason.contains("no store in it yet"));
    assert_eq!(fs::read(&file).unwrap(), b"");

    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    let store = options.sqlite(&file).await.unwrap();
    store.create(&mut Ticket::new()).await.unwrap();
}
