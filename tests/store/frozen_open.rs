//! A process is frozen while it opens a file, and holds the locks of its log.
#![cfg(unix)]

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    process::{Signal, getpid, kill_process},
};

use crate::store::{
    child::{self, Other},
    support::Place,
};

/// Holds every lock on the shared memory of the log, as a process does that begins to recover the log, and
/// freezes.
#[test]
#[ignore = "other tests run it as another process"]
fn freezes() {
    let (file, _) = child::given();
    let shared = shared_memory(&file);
    let shared = std::fs::File::options().read(true).write(true).open(shared).unwrap();
    fcntl_lock(&shared, FlockOperation::NonBlockingLockExclusive).unwrap();
    child::say("locked");
    kill_process(getpid(), Signal::STOP).unwrap();
    std::thread::park();
}

fn shared_memory(file: &Path) -> PathBuf {
    file.with_file_name("agent.db-shm")
}

/// Whoever opens it waits as long as it was told to, and says that the file is busy. Then all of it is there.
#[tokio::test]
async fn others_keep_their_busy_timeout() {
    let place = Place::new().await;
    let file = place.file();
    place.store.close().await.unwrap();
    let mut killed = Other::start("store::observer::writes_and_waits", &file, &[]);
    killed.wait_for("written");
    killed.kill();
    let mut frozen = Other::start("store::frozen_open::freezes", &file, &[]);
    frozen.wait_for("locked");

    let options = OpenOptions::new().busy_timeout(Duration::from_millis(100));
    let start = Instant::now();
    let refused = [
        options.read_only(&file).await.map(drop),
        options.sqlite(&file).await.map(drop),
        options.clone().must_exist().sqlite(&file).await.map(drop),
        options.check(&file).await.map(drop),
    ];
    let took = start.elapsed();
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(matches!(&error, OpenError::Unavailable(error) if error.is_busy()), "{error:?}");
    }
    // Each of them alone took a minute when SQLite decided how long.
    assert!(took < Duration::from_secs(20), "{took:?}");
    frozen.kill();

    let observer = options.read_only(&file).await.unwrap();
    assert_eq!(observer.list(&Query::new()).await.unwrap().items.len(), 3);
    let store = Store::sqlite(&file).await.unwrap();
    assert_eq!(store.list(&Query::new()).await.unwrap().items.len(), 3);
    store.create(&mut machine_tests::samples::Ticket::new()).await.unwrap();
}
