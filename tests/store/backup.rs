//! A copy of a store that is in use.

use std::{
    fs,
    future::poll_fn,
    path::{Path, PathBuf},
    pin::pin,
    process::ExitStatus,
    task::Poll,
    time::{Duration, Instant},
};

use machine::{
    contract::execution::Status,
    effects::EffectError,
    store::{BackupError, CommitError, LoadError, OpenOptions, Query, Store, Unavailable},
};
use machine_tests::{
    STUCK,
    actors::tool_node,
    assert_err,
    process::{Act, Process, orders, say, wait},
    samples::{Ticket, mail, pending_mail, read},
    stores::assert_intact,
};

use crate::store::{
    child::{WRITTEN, writes_elsewhere},
    support::{Place, lines, names},
};

/// A copy, which must be sound.
async fn opened(copy: &Path) -> Store {
    let store = OpenOptions::new().must_exist().sqlite(copy).await.unwrap();
    assert_intact(&store).await;
    store
}

/// A file with enough in it for several steps.
async fn large() -> Place {
    let place = Place::new().await;
    let text = "x".repeat(200_000);
    for number in 0..20 {
        let _ = place.stored(read(&format!("{number}-{text}"))).await;
    }
    place
}

/// Everything is in the copy, and both go their own ways.
#[tokio::test]
async fn a_copy_has_everything() {
    let place = large().await;
    let done = place.done(mail("bob")).await.id();
    let copy = place.folder().join("copy.db");
    let mut steps = Vec::new();
    let backup = place.store.backup(&copy, |step| steps.push(step)).await.unwrap();
    assert_eq!(backup.path, fs::canonicalize(&copy).unwrap());
    assert_eq!(backup.bytes, fs::metadata(&copy).unwrap().len());
    assert_eq!(backup.position, place.store.position().await.unwrap());
    assert!(steps.is_sorted_by_key(|step| step.bytes), "{steps:?}");
    assert_eq!(
        steps.last().map(|step| (step.bytes, step.total_bytes)),
        Some((backup.bytes, backup.bytes))
    );

    let observer = OpenOptions::new().read_only(&copy).await.unwrap();
    assert_eq!(lines(&observer, &Query::new()).await, place.lines(&Query::new()).await);
    drop(observer);
    let store = opened(&copy).await;
    assert_err!(store.create(&mut pending_mail("bob")).await, EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == done);
    store.create(&mut Ticket::new()).await.unwrap();
    assert_ne!(store.position().await.unwrap(), place.store.position().await.unwrap());
    let others = names(place.folder()).into_iter().filter(|name| name.contains("-backup-")).count();
    assert_eq!(others, 0);
}

/// A copy that is put to use gives the numbers of the original's later entries to its own entries.
/// No position in one of them is a position in another, however often it is restored, and fencing
/// tokens rise all the same.
#[tokio::test]
async fn a_copy_in_use_is_distinct_from_its_original() {
    let place = Place::new().await;
    let _ = place.done(mail("bob")).await;
    let backup = place.folder().join("backup.db");
    let made = place.store.backup(&backup, |_| {}).await.unwrap();
    let (_running, permit) = place.begun(mail("ann")).await;
    let mut newest = vec![place.store.position().await.unwrap()];
    let mut tokens = vec![permit.token()];
    for name in ["first", "second", "copy-of-the-second"] {
        let restored = place.folder().join(name);
        if name.starts_with("copy") {
            let second = opened(&place.folder().join("second")).await;
            let _ = second.backup(&restored, |_| {}).await.unwrap();
        } else {
            fs::copy(&backup, &restored).unwrap();
        }
        // An observer finds the positions of the original, as it finds the same entries.
        let observer = OpenOptions::new().read_only(&restored).await.unwrap();
        let seen = observer.position().await.unwrap();
        assert!(newest.contains(&seen) || seen == made.position);
        drop(observer);

        let store = opened(&restored).await;
        let begins = store.position().await.unwrap();
        let mut pending = pending_mail(name);
        store.create(&mut pending).await.unwrap();
        let (_running, permit) = store.begin(pending, tool_node()).await.unwrap();
        tokens.push(permit.token());
        for _ in 0..10 {
            store.create(&mut Ticket::new()).await.unwrap();
        }
        for position in newest.iter().chain([&made.position]) {
            let refused = store.subscribe(Some(*position)).await;
            assert_err!(refused, LoadError::UnknownPosition { position: it, .. } if it == position);
        }
        assert!(store.subscribe(Some(begins)).await.is_ok());
        newest.push(store.position().await.unwrap());
        // It is put to use once.
        store.close().await.unwrap();
        assert!(opened(&restored).await.subscribe(Some(begins)).await.is_ok());
    }
    assert!(tokens.is_sorted_by(|a, b| a < b && a.to_string() < b.to_string()), "{tokens:?}");
}

/// While other processes and tasks write, a copy has everything that was acknowledged before it
/// began.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_one_moment() {
    let place = large().await;
    let mut others = [(); 2].map(|()| writes_elsewhere(&place.file()));
    others.iter_mut().for_each(Process::go);
    // This one runs until the last copy is made.
    let writer = tokio::spawn({
        let store = place.open_again().await;
        async move {
            loop {
                store.create(&mut Ticket::new()).await.unwrap();
            }
        }
    });
    for round in 0..4 {
        let mut acknowledged = Vec::new();
        for _ in 0..5 {
            acknowledged.push(place.created(Ticket::new()).await.id());
        }
        let before = place.store.position().await.unwrap();
        let copy = place.folder().join(format!("copy-{round}.db"));
        let backup = place.store.backup(&copy, |_| {}).await.unwrap();
        assert!(backup.position >= before);
        let observer = OpenOptions::new().read_only(&copy).await.unwrap();
        assert_eq!(observer.position().await.unwrap(), backup.position);
        let store = opened(&copy).await;
        let copied: Vec<_> =
            lines(&store, &Query::new()).await.iter().map(|line| line.id).collect();
        assert!(acknowledged.iter().all(|id| copied.contains(id)), "round {round}");
    }
    writer.abort();
    others.into_iter().for_each(Process::join);
    assert!(place.lines(&Query::new()).await.len() > 20 + 20 + 2 * WRITTEN);
}

/// A store that only reads makes copies too, of a file at rest and of one in use.
#[tokio::test]
async fn a_reader_makes_copies() {
    let place = large().await;
    let observer = OpenOptions::new().read_only(place.file()).await.unwrap();
    observer.backup(place.folder().join("1.db"), |_| {}).await.unwrap();
    drop(observer);
    let place = place.reopened().await;
    place.store.close().await.unwrap();
    let before = names(place.folder());
    let observer = OpenOptions::new().read_only(place.file()).await.unwrap();
    let out = tempfile::tempdir().unwrap();
    observer.backup(out.path().join("2.db"), |_| {}).await.unwrap();
    assert_eq!(names(place.folder()), before);
    for copy in [place.folder().join("1.db"), out.path().join("2.db")] {
        assert_eq!(lines(&opened(&copy).await, &Query::new()).await.len(), 20);
    }
}

/// An attempt that holds a key in the file holds it in the copy.
#[tokio::test]
async fn a_copy_keeps_what_is_in_flight() {
    let place = Place::new().await;
    let (running, _permit) = place.begun(mail("bob")).await;
    let copy = place.folder().join("copy.db");
    place.store.backup(&copy, |_| {}).await.unwrap();
    let store = opened(&copy).await;
    let doubt = store.recover().await.unwrap().in_doubt.remove(0);
    assert_eq!(doubt.id(), running.id());
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// Nothing is replaced, and nothing is left behind.
#[tokio::test]
async fn names_that_are_taken_are_refused() {
    let place = Place::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("taken"), "a diary").unwrap();
    fs::write(path("moved.db-wal"), "commits").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let store = &place.store;
    let to = async |name: &str| store.backup(path(name), |_| {}).await;
    assert_err!(to("taken").await, BackupError::Exists { .. });
    assert_err!(to("folder").await, BackupError::Exists { .. });
    assert_err!(to("moved.db").await, BackupError::CannotWrite { reason, .. } if reason.contains("moved.db-wal as its log"));
    assert_err!(to("missing/copy.db").await, BackupError::CannotWrite { reason, .. } if reason.contains("folder exists"));
    for suffix in ["-wal", "-journal", "-shm"] {
        let name = format!("{}{suffix}", place.file().display());
        for name in [name, format!("x{suffix}")] {
            assert_err!(to(&name).await, BackupError::CannotWrite { reason, .. } if reason.contains("its suffix"));
        }
    }
    assert_err!(to("..").await, BackupError::CannotWrite { .. });
    let mut expected = vec!["folder", "moved.db-wal", "taken"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", path("link")).unwrap();
        assert_err!(to("link").await, BackupError::Exists { .. });
        expected.insert(1, "link");
    }
    assert_err!(store.backup(place.file(), |_| {}).await, BackupError::Exists { .. });
    assert_eq!(names(folder.path()), expected);
    assert_eq!(fs::read(path("taken")).unwrap(), b"a diary");
    assert_err!(Store::memory().backup(path("copy"), |_| {}).await, BackupError::InMemory);
    store.close().await.unwrap();
    let closed = store.backup(path("copy"), |_| {}).await;
    assert_err!(closed, BackupError::Unavailable(Unavailable::Stopped));
}

/// Of several backups to one name, one is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_backups_to_one_name_one_is_made() {
    let place = large().await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let (store, copy) = (place.store.clone(), copy.clone());
            tokio::spawn(async move { store.backup(copy, |_| {}).await })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(BackupError::Exists { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(made, 1);
    assert_eq!(names(folder.path()), ["copy.db"]);
    assert_eq!(lines(&opened(&copy).await, &Query::new()).await.len(), 20);
}

/// A backup whose future is dropped ends, and leaves nothing.
#[tokio::test]
async fn a_dropped_backup_leaves_nothing() {
    let place = large().await;
    let folder = tempfile::tempdir().unwrap();
    {
        let mut backup = pin!(place.store.backup(folder.path().join("copy.db"), |_| {}));
        let polled = poll_fn(|context| Poll::Ready(backup.as_mut().poll(context))).await;
        assert!(polled.is_pending(), "it was made at once");
    }
    let start = Instant::now();
    while !names(folder.path()).iter().all(|name| name == "copy.db") {
        assert!(start.elapsed() < STUCK, "still there: {:?}", names(folder.path()));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A process that makes a copy, and something happens to it on the way.
fn elsewhere(place: &Place, copy: &Path, point: &str) -> Process {
    Process::start("store::backup::copies", &(place.file(), copy, point))
}

/// A process is killed at any point of a backup: the copy is there as a whole or not at all, and
/// what is left does not disturb the next backup.
#[tokio::test]
async fn a_killed_backup_leaves_no_copy() {
    let place = large().await;
    for (point, is_made) in [
        ("backup-created", false),
        ("backup-step", false),
        ("backup-copied", false),
        ("backup-finished", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        let status: ExitStatus = elsewhere(&place, &copy, point).ended();
        assert!(!status.success(), "{point}: {status}");
        assert_eq!(copy.exists(), is_made, "{point}");
        if is_made {
            opened(&copy).await.close().await.unwrap();
            fs::remove_file(&copy).unwrap();
        }
        place.store.backup(&copy, |_| {}).await.unwrap();
        opened(&copy).await;
    }
}

/// A full disk is reported, and no file is left.
#[tokio::test]
async fn a_full_disk_is_reported() {
    let place = large().await;
    let folder = tempfile::tempdir().unwrap();
    let mut other = elsewhere(&place, &folder.path().join("copy.db"), "full");
    let said: String = other.hear();
    other.join();
    assert!(said.contains("no space left"), "{said}");
    assert_eq!(names(folder.path()), [""; 0]);
}

/// While a backup is made, another one does not remove what it has written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_backup_is_left_alone() {
    let place = large().await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    let mut other = elsewhere(&place, &copy, "wait");
    assert_eq!(other.hear::<String>(), "copied");
    place.store.backup(&copy, |_| {}).await.unwrap();
    // The log of the copy comes and goes while the other process writes.
    let mut left = names(folder.path());
    left.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    other.kill();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn copies() {
    let (file, copy, point): (PathBuf, PathBuf, String) = orders();
    match point.as_str() {
        "full" => fail::cfg("backup-step", "1*off->return(13)").unwrap(),
        "wait" => {
            let waits = || {
                say(&"copied");
                wait();
            };
            fail::cfg_callback("backup-copied", waits).unwrap();
        }
        point => Act::Kill.at(point, if point == "backup-step" { 2 } else { 0 }),
    }
    let store = OpenOptions::new().read_only(file).await.unwrap();
    if let Err(error) = store.backup(copy, |_| {}).await {
        say(&error.to_string());
    }
}
