//! A process that reads for long keeps the write-ahead log of the file from being reset.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use machine::{
    clock::{Clock, Millis},
    contract::BoxFuture,
    observe::{Concern, ConcernReason, Observer},
    view::Internal,
};
use machine_tests::process::{Process, orders, say, wait};

use crate::worker::prelude::*;

const A_MINUTE: Duration = Duration::from_mins(1);

/// A clock whose timers wait until the test moves it.
#[derive(Debug, Clone)]
struct Moved(Hand);

impl Clock for Moved {
    fn now(&self) -> Millis {
        self.0.now()
    }

    fn uptime(&self) -> Duration {
        Duration::from_millis(self.now().unsigned_abs())
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let (clock, end) = (self.clone(), self.uptime() + time);
        Box::pin(async move {
            while clock.uptime() < end {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }
}

/// What needs attention because the log is not reset.
async fn pinned(store: &Store) -> Vec<Concern<Internal>> {
    let attention = Observer::new(store).attention::<Internal>(&Query::new()).await.unwrap();
    let concerns = attention.concerns.iter().cloned();
    concerns.filter(|it| it.reason == ConcernReason::LogPinned).collect()
}

/// Makes the log large, and the store look at it.
async fn grow(file: &Path, store: &Store) {
    let raw = rusqlite::Connection::open(file).unwrap();
    raw.busy_timeout(STUCK).unwrap();
    raw.execute_batch(
        "PRAGMA synchronous = OFF; CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(80000000));",
    )
    .unwrap();
    ticket(store).await;
}

#[test]
#[ignore = "another test runs it as another process"]
fn reads() {
    let raw = rusqlite::Connection::open(orders::<PathBuf>()).unwrap();
    raw.execute_batch("BEGIN").unwrap();
    raw.query_row("SELECT count(*) FROM instance", [], |_| Ok(())).unwrap();
    say(&std::process::id());
    wait();
}

#[tokio::test]
async fn a_reader_that_stays_is_listed_with_its_process_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let hand = Hand::default();
    let store = OpenOptions::new().clock(Moved(hand.clone())).sqlite(&file).await.unwrap();
    let running = worker(&store).start();
    let mut process = Process::start("worker::reader::reads", &file);
    let pid: u32 = process.hear();
    grow(&file, &store).await;
    let named = if cfg!(target_os = "linux") {
        format!("process {pid} on ")
    } else {
        "an unknown process ".to_owned()
    };
    let last = Mutex::default();
    // Reads of this process may be named as well until there were more looks.
    until("only the reader is listed", async || {
        hand.pass(A_MINUTE);
        let listed = pinned(&store).await;
        let cause = listed.first().and_then(|it| it.cause.as_deref());
        let is_alone =
            cause.is_some_and(|cause| cause.starts_with(&named) && !cause.contains(" or process"));
        *last.lock().unwrap() = listed;
        is_alone
    })
    .await;

    // The worker may look again at any time, since the clock has moved.
    let listed = last.into_inner().unwrap();
    let [concern] = &listed[..] else { panic!("{listed:?}") };
    let cause = concern.cause.as_deref().unwrap();
    assert!(cause.ends_with("end that transaction, or the process"), "{cause}");
    let noticed = concern.since.unwrap();
    assert!(store.now() - noticed >= 60_000, "{noticed}");
    assert_eq!((concern.id, &*concern.summary), (None, "write-ahead log"));
    // The program of an operator reads the same.
    let observing = OpenOptions::new().read_only(&file).await.unwrap();
    until("an operator reads what is listed", async || {
        let read = pinned(&observing).await;
        !read.is_empty() && read == pinned(&store).await
    })
    .await;

    process.kill();
    if cfg!(target_os = "linux") {
        // The worker does not look again before the clock moves.
        assert!(pinned(&observing).await.is_empty());
    }
    until("the reader is gone", async || {
        hand.pass(A_MINUTE);
        pinned(&store).await.is_empty()
    })
    .await;
    running.stop().await.unwrap();
}
