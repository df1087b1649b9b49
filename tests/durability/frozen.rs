//! A process is stopped in the middle of a transaction, and continues later.

use machine_tests::actors::tool_node;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use machine::{
    Id,
    contract::{Settled, execution::Status},
    effects::EffectError,
    store::{CommitError, Query},
};
use machine_tests::{STUCK, assert_err, samples::mail};

use crate::{
    machines::{Meter, meter::Counting},
    process::{Act, Process, orders, say},
    support::{applied, begun, block_on, closes_intact, history, lines, new_file, options, status},
};

/// The busy timeout of the others while the process is frozen.
const BUSY: Duration = Duration::from_millis(500);

/// Commits, and is frozen at a fail point while it does.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn freezes() {
    let (file, id, point): (PathBuf, Id, String) = orders();
    let store = options().sqlite(file).await.unwrap();
    let mut meter = store.resume::<Counting>(id).await.unwrap().add("frozen".to_owned());
    let mut new = Meter::new().add("frozen".to_owned());
    Act::Freeze.at(&point, 0);
    let written = store.batch().create(&mut new).commit(&mut meter).write().await;
    say(&written.map(|()| new.id()).map_err(|error| error.to_string()));
}

/// A process that has the write lock is frozen, and continues while an outcome waits. It has read
/// and written nothing, or half of a batch, or everything without committing it.
#[test]
fn frozen_in_a_transaction() {
    for point in ["store-checked", "store-line", "store-commit"] {
        block_on(frozen_at(point));
    }
}

async fn frozen_at(point: &str) {
    let (_folder, file) = new_file();
    let store = options().busy_timeout(BUSY).sqlite(&file).await.unwrap();
    let other = options().busy_timeout(BUSY).sqlite(&file).await.unwrap();
    let mut meter = Meter::new().add("one".to_owned());
    store.create(&mut meter).await.unwrap();
    let (running, permit) = begun(&store, mail("bob")).await;
    let (mail, outcome) = (running.id(), applied(permit, "sent").await);

    let mut process = Process::start("frozen::freezes", &(&file, meter.id(), point));
    process.freeze();
    // Readers do not wait, and see nothing of it.
    assert_eq!(lines(&store, &Query::new()).await.len(), 2);
    assert_eq!(history(&store, meter.id()).await, ["created", "add one"]);
    assert_eq!(store.recover().await.unwrap().in_doubt.len(), 0);
    let writes = async {
        let mut new = Meter::new();
        let refused = other.create(&mut new).await;
        assert_err!(refused, EffectError::Unavailable(error) if error.is_busy());
        assert_eq!(new.journal().version(), 0);
        process.thaw();
        // The process that thaws and the outcome need the lock, too.
        let start = Instant::now();
        while let Err(error) = other.create(&mut new).await {
            let is_busy = matches!(&error, EffectError::Unavailable(error) if error.is_busy());
            assert!(is_busy && start.elapsed() < STUCK, "{error}");
        }
        new.id()
    };
    let (settled, new) = tokio::join!(store.settle(running, outcome, tool_node()), writes);
    assert!(matches!(settled.unwrap(), Settled::Completed(_)));
    assert_eq!(status(&store, mail).await, Status::Completed);

    let created: Id = process.hear::<Result<Id, String>>().unwrap();
    process.join();
    assert_eq!(history(&store, meter.id()).await, ["created", "add one", "add frozen"]);
    assert_eq!(history(&store, created).await, ["created", "add frozen"]);
    assert_eq!(history(&store, new).await, ["created"]);
    let mut meter = meter.add("late".to_owned());
    assert_err!(store.commit(&mut meter).await, EffectError::Commit(CommitError::Conflict { .. }));
    other.close().await.unwrap();
    closes_intact(&store, &file).await;
}
