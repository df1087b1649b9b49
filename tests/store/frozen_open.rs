//! A process is frozen while it opens a file, and holds the locks of its log.
#![cfg(unix)]

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use machine::store::{OpenError, OpenOptions, Query};
use machine_tests::{
    STUCK,
    process::{Process, freeze, orders},
};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::store::{
    child::{WRITTEN, write_and_be_killed},
    support::{Place, lines},
};

/// Holds every lock on the shared memory of the log, as a process does that begins to recover the
/// log, and freezes.
#[test]
#[ignore = "other tests run it as another process"]
fn freezes() {
    let shared = orders::<PathBuf>().with_file_name("agent.db-shm");
    let shared = std::fs::File::options().read(true).write(true).open(shared).unwrap();
    fcntl_lock(&shared, FlockOperation::NonBlockingLockExclusive).unwrap();
    freeze();
}

/// An open waits for its timeout, then reports that the file is busy. Afterwards all data is there.
#[tokio::test]
async fn others_keep_their_busy_timeout() {
    let place = Place::new().await;
    let file = place.file();
    place.store.close().await.unwrap();
    write_and_be_killed(&file);
    let mut frozen = Process::start("store::frozen_open::freezes", &file);
    frozen.freeze();

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
    assert!(took < STUCK, "{took:?}");
    frozen.kill();

    for store in [options.read_only(&file).await.unwrap(), options.sqlite(&file).await.unwrap()] {
        assert_eq!(lines(&store, &Query::new()).await.len(), WRITTEN);
    }
}
