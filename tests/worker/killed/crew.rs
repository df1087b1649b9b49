//! The processes of the workers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{actor::Actors, store::OpenOptions, worker::Worker};
use machine_tests::STUCK;

use super::{
    Random,
    errands::{Guide, Lines, Pay, Read, Services},
    trips::trip::Driver,
};
use crate::worker::process::{Member, Process, close, orders, say_id};

pub(super) fn start(lines: &Lines, random: &mut Random) -> Member {
    Member::of(Process::start("worker::killed::crew::works", &(lines, random.number())))
}

/// Drives everything until SIGTERM.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn works() {
    let (lines, seed): (Lines, u64) = orders();
    // The parent waits for the id only: it may have frozen another worker that has the lock, and
    // thaws it after this.
    let stop = say_id();
    let options = OpenOptions::new().busy_timeout(STUCK);
    let store = options.sqlite(lines.database()).await.unwrap();
    let random = Mutex::new(Random::new(seed));
    let services = Arc::new(Services { lines, random });
    let worker = Worker::new(&store, Actors::issue("worker").unwrap())
        .handler(Driver(Guide))
        .tool::<Read>(Arc::clone(&services))
        .tool::<Pay>(services)
        .lease(Duration::from_secs(1))
        .sweep(Duration::from_millis(200))
        .backoff(Duration::from_millis(50), Duration::from_secs(1))
        .concurrency(8);
    worker.run_until(stop).await.unwrap();
    close(store).await;
}
