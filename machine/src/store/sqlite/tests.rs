#![allow(clippy::unwrap_used, reason = "tests")]

mod attempts;
mod children;
mod commits;
mod failures;
mod locks;
mod opening;
pub(super) mod plans;
mod reading;
mod upkeep;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rusqlite::{Connection, ffi};

use super::Sqlite;
use crate::{
    id::Id,
    journal::Digest,
    store::{
        backend::{
            AppliedBatch, Backend, Filter, FoundRow, Rejected, Reply, StoreSettings, Write,
            WriteBatch,
        },
        conformance::{
            sample::{Machine, batch},
            settings,
        },
        error::{CommitError, Unavailable},
    },
};

/// The time after which a test that waits fails instead of hanging.
const STUCK: Duration = Duration::from_mins(1);

fn wait<T>(answer: Reply<T>) -> Result<T, Unavailable> {
    pollster::block_on(answer)
}

/// Queues a batch for the writer, which cannot answer yet.
fn queued<T>(mut answer: Reply<T>) -> Reply<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(answer.as_mut().poll(&mut context).is_pending());
    answer
}

/// A folder with a file in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn opened() -> (Self, Sqlite) {
        let place = Self::new();
        let store = place.open();
        (place, store)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a %?#b.db")
    }

    fn open(&self) -> Sqlite {
        super::open(&self.path(), settings(), false).unwrap()
    }

    fn raw(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(STUCK).unwrap();
        connection
    }

    fn files(&self) -> Vec<String> {
        let name = |file: std::io::Result<std::fs::DirEntry>| {
            file.unwrap().file_name().into_string().unwrap()
        };
        std::fs::read_dir(self.0.path()).unwrap().map(name).collect()
    }

    /// Waits until every thread of the stores has closed its connection.
    fn wait_for_one_file(&self) {
        let start = Instant::now();
        while self.files().len() != 1 {
            assert!(start.elapsed() < STUCK, "still there: {:?}", self.files());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn apply(store: &Sqlite, writes: Vec<Write>) -> Result<AppliedBatch, Rejected> {
    wait(store.apply(batch(writes))).unwrap()
}

/// A stored machine with this number of lines.
fn stored(store: &Sqlite, lines: u64) -> Machine {
    let mut machine = Machine::execution();
    apply(store, vec![machine.write(lines)]).unwrap();
    machine
}

fn row(store: &Sqlite, id: Id) -> FoundRow {
    wait(store.rows(vec![id])).unwrap().remove(0)
}

fn all(store: &Sqlite, filter: Filter) -> Vec<(u64, FoundRow)> {
    wait(store.select(Filter { limit: 1000, ..filter })).unwrap()
}

/// Checks sequence numbers and chain of the whole journal, and returns its length.
fn verify(store: &Sqlite) -> usize {
    let entries = wait(store.entries(0, usize::MAX)).unwrap();
    let key = settings().key;
    let mut previous = Digest::ZERO;
    let mut digests = Vec::new();
    for (entry, seq) in entries.iter().zip(1..) {
        assert_eq!(entry.seq, seq);
        digests.push(*entry.line.as_ref().unwrap().digest.bytes());
        if let Some(chain) = entry.chain {
            let mut parts = vec![previous.bytes().as_slice()];
            parts.extend(digests.iter().map(<[u8; 32]>::as_slice));
            assert_eq!(chain, key.digest(&parts));
            previous = chain;
            digests.clear();
        }
    }
    assert!(digests.is_empty(), "the last line has a chain");
    entries.len()
}

fn wal_bytes(path: &Path) -> u64 {
    std::fs::metadata(super::inspect::wal(path)).map_or(0, |file| file.len())
}
