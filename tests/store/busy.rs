//! Another process holds the lock on the file.

use std::time::Duration;

use machine::{
    contract::{Settled, execution::Status},
    effects::EffectError,
    store::{OpenError, OpenOptions},
};
use machine_tests::{actors::tool_node, assert_err, samples::mail};

use crate::store::support::{Place, applied, new_file, recovered};

fn impatient() -> OpenOptions {
    OpenOptions::new().busy_timeout(Duration::from_millis(10))
}

fn assert_busy(error: &EffectError) {
    assert_err!(Err::<(), _>(error), EffectError::Unavailable(error) if error.is_busy());
}

/// A begin issues no permit and gives the execution back, and a settle gives back the receipt. No
/// `recover` takes it over in between: the outcome is still in flight in this process.
#[tokio::test]
async fn a_refusal_returns_the_execution_and_the_receipt() {
    let place = Place::with(impatient()).await;
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let holder = place.raw();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = place.store.begin(pending, tool_node()).await.map(drop).unwrap_err();
    assert_busy(&refused.reason);
    let pending = refused.machine;
    assert!(pending.journal().uncommitted().is_empty());
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(place.status(id).await, Status::Pending);

    let (running, permit) = place.store.begin(pending, tool_node()).await.unwrap();
    let outcome = applied(permit, "250 queued").await;
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = place.store.settle(running, outcome, tool_node()).await.unwrap_err();
    let EffectError::Unsettled { id: of, at_stake, source } = refused.reason else {
        panic!("{:?}", refused.reason)
    };
    assert_eq!(of, id);
    assert!(at_stake.contains("250 queued"), "{at_stake}");
    assert_busy(&source);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(place.recovered().await.len(), 0);
    assert_eq!(recovered(&place.open_again().await).await.len(), 0);
    let (running, outcome) = refused.machine;
    assert!(matches!(place.settled(running, outcome).await, Settled::Completed(_)));
    assert_eq!(place.status(id).await, Status::Completed);
}

/// Opening a new file that is locked fails with `Busy`, and works afterwards.
#[tokio::test]
async fn opening_a_new_file_can_be_busy() {
    let (_folder, file) = new_file();
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = impatient().sqlite(&file).await;
    assert_err!(refused, OpenError::Unavailable(error) if error.is_busy());
    holder.execute_batch("ROLLBACK").unwrap();
    impatient().sqlite(&file).await.unwrap();
}
