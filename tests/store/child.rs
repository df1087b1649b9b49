//! This test program as another process that uses a file: the child's tests, and how they are
//! started.

use std::path::{Path, PathBuf};

use machine::{
    Id,
    store::{OpenOptions, Store},
};
use machine_tests::{
    STUCK,
    actors::tool_node,
    process::{Process, orders, say, wait},
    samples::Ticket,
};
use serde::Serialize;

use crate::store::support::{applied, begin, pending};

/// Starts a child, and waits until it says `()`.
pub(crate) fn start(test: &str, orders: &impl Serialize) -> Process {
    let mut other = Process::start(test, orders);
    other.hear::<()>();
    other
}

/// Another process that has begun `id` and holds the permit.
pub(crate) fn begins_elsewhere(file: &Path, id: Id) -> Process {
    start("store::child::begins", &(file, id))
}

/// Begins `id` in another process and kills it while it holds the permit.
pub(crate) fn begin_and_be_killed(file: &Path, id: Id) {
    begins_elsewhere(file, id).kill();
}

/// Completes `id` in another process and kills it afterwards.
pub(crate) fn settle_and_be_killed(file: &Path, id: Id) {
    start("store::child::settles", &(file, id)).kill();
}

/// Another process that writes to the file when it is let go.
pub(crate) fn writes_elsewhere(file: &Path) -> Process {
    start("store::child::writes", &file)
}

/// Lets another process write to the file, and kills it before it closes it.
pub(crate) fn write_and_be_killed(file: &Path) {
    let mut other = writes_elsewhere(file);
    other.go();
    other.hear::<()>();
    other.kill();
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn begins() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let _kept = begin(&store, pending(&store, id).await).await.unwrap();
    say(&());
    wait();
}

/// Recovers while the process can open no file.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn recovers_without_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let store = Store::sqlite(orders::<PathBuf>()).await.unwrap();
    // The files that it needs of the database are open.
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(200), ..limit }).unwrap();
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    if let Ok(recovered) = store.recover().await {
        assert!(recovered.in_doubt.is_empty(), "{recovered:?}");
        assert_eq!(recovered.failed.len(), 1);
    }
    drop(files);
    let recovered = store.recover().await.unwrap();
    assert!(recovered.in_doubt.is_empty() && recovered.failed.is_empty(), "{recovered:?}");
    say(&());
}

/// Keeps what it inherits until it is killed.
#[test]
#[ignore = "other tests run it as another process"]
fn parks() {
    loop {
        std::thread::park();
    }
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn settles() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let (running, permit) = begin(&store, pending(&store, id).await).await.unwrap();
    let outcome = applied(permit, "sent").await;
    let _ = store.settle(running, outcome, tool_node()).await.unwrap();
    say(&());
    wait();
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn opens_and_closes() {
    Store::sqlite(orders::<PathBuf>()).await.unwrap().close().await.unwrap();
}

/// The number of tickets that [`writes`] creates; it parks each of them.
pub(crate) const WRITTEN: usize = 40;

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn writes() {
    // Others hold the lock again and again.
    let patient = OpenOptions::new().busy_timeout(STUCK);
    let store = patient.sqlite(orders::<PathBuf>()).await.unwrap();
    say(&());
    wait();
    for _ in 0..WRITTEN {
        let mut ticket = Ticket::new();
        store.create(&mut ticket).await.unwrap();
        store.commit(&mut ticket.park()).await.unwrap();
    }
    say(&());
    // The log stays.
    std::mem::forget(store);
}
