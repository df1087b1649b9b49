//! A store that only reads: it sees what others commit, and changes nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use machine::{
    contract::{AnyExecution, execution::Status},
    effects::EffectError,
    store::{LoadError, OpenOptions, Query, Store, Unavailable},
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket, mail, pending_mail, read},
    stores::assert_intact,
};
use tempfile::TempDir;

use crate::store::{
    child::{WRITTEN, write_and_be_killed, writes_elsewhere},
    subscribe::next,
    support::{Place, begin, content, lines, names, pending},
};

async fn observer(file: &Path) -> Store {
    OpenOptions::new().read_only(file).await.unwrap()
}

/// A closed file with some machines.
async fn at_rest() -> (TempDir, PathBuf) {
    let place = Place::new().await;
    for number in 0..5 {
        let _ = place.stored(read(&format!("{number}.txt"))).await;
    }
    place.store.close().await.unwrap();
    let file = place.file();
    (place.folder, file)
}

/// Reads everything in every way.
async fn read_all(store: &Store) -> usize {
    let lines = lines(store, &Query::new()).await;
    for line in &lines {
        store.load::<AnyExecution>(line.id).await.unwrap();
        store.history(line.id).await.unwrap();
    }
    assert_intact(store).await;
    lines.len()
}

/// A file at rest is read without a trace: nothing in it changes, and no file appears.
#[tokio::test]
async fn a_file_at_rest_stays_as_it_is() {
    let (folder, file) = at_rest().await;
    let before = content(folder.path());
    assert_eq!(before.len(), 1);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let store = observer(&file).await;
    let mut entries = store.subscribe(None).await.unwrap();
    next(&mut entries, 5).await;
    assert_eq!(read_all(&store).await, 5);
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    store.close().await.unwrap();
    assert!(content(folder.path()) == before, "it was changed, or a file was created");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
}

/// Every write is refused because the store is read-only.
#[tokio::test]
async fn writes_are_refused() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let (running, _permit) = place.begun(mail("carol")).await;
    let ticket = place.created(Ticket::new()).await;
    let store = observer(&place.file()).await;
    let before = (place.dump(), names(place.folder()));

    let is_read_only =
        |error: &EffectError| matches!(error, EffectError::Unavailable(Unavailable::ReadOnly));
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

    assert_eq!((place.dump(), names(place.folder())), before);
}

/// Commits of other processes are seen, also by a subscription that waits.
#[tokio::test]
async fn it_sees_what_others_commit() {
    let place = Place::new().await;
    let _ = place.stored(read("1.txt")).await;
    let store = observer(&place.file()).await;
    let mut entries = store.subscribe(None).await.unwrap();
    next(&mut entries, 1).await;
    let mut other = writes_elsewhere(&place.file());
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
    assert_intact(&store).await;
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
        assert_intact(&store).await;
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
    write_and_be_killed(&file);
    let before = content(place.folder());
    assert!(before.len() > 1, "there is a log: {:?}", before.keys());
    let store = observer(&file).await;
    assert_eq!(lines(&store, &Query::new()).await.len(), WRITTEN);
    assert_intact(&store).await;
    store.close().await.unwrap();
    assert!(content(place.folder()) == before, "it wrote to the file or to its log");
}

/// Another store in the place of the file is not taken for it.
#[tokio::test]
async fn a_file_that_is_replaced_is_noticed() {
    let ((_folder, file), (_other, theirs)) = (at_rest().await, at_rest().await);
    let store = observer(&file).await;
    fs::rename(theirs, &file).unwrap();
    assert_err!(store.list(&Query::new()).await, LoadError::Unavailable(error) if error.to_string().contains("another store"));
}
