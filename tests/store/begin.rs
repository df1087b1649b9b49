//! `begin` takes the key and issues the permit (EX-5).

use machine::{
    actor::ToolNode,
    contract::{Execution, execution::Status},
    journal::Fact,
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::support::{Place, applied, begin};

/// When `begin` returns, RUNNING, the hold and the permit are on disk, in this order.
#[tokio::test]
async fn the_hold_is_on_disk_before_the_permit_is_out() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    assert!(running.journal().uncommitted().is_empty());
    let facts: Vec<_> = running.journal().entries().iter().map(|entry| &entry.fact).collect();
    let [Fact::Created { .. }, Fact::Held { key }, Fact::Moved { .. }, Fact::Permitted { .. }] =
        facts[..]
    else {
        panic!("{facts:?}");
    };
    assert_eq!(permit.key().unwrap().as_str(), key);
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// A permit has the execution, the key, the epoch and the exact action.
#[tokio::test]
async fn a_permit_says_what_it_is_for() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob").timeout_seconds(7)).await;
    assert_eq!(permit.execution_id(), running.id());
    assert_eq!(permit.key(), running.context().idempotency_key());
    assert_eq!(permit.epoch(), running.journal().epoch());
    assert_eq!(permit.action(), running.context().action().digest());
    assert_eq!(permit.timeout(), Some(7));
}

/// If two callers begin the same execution, one gets a permit.
#[tokio::test]
async fn one_execution_gives_one_permit() {
    let place = Place::new();
    let id = place.stored(mail("bob")).await.id();
    let (mine, theirs) = (place.pending(id).await, place.pending(id).await);
    let (_running, _permit) = begin(&place.store, mine).await.unwrap();
    let before = place.dump();
    assert_err!(begin(&place.store, theirs).await, StoreError::Conflict { id: of } if *of == id);
    assert_eq!(place.dump(), before);
}

/// The same through two stores.
#[tokio::test]
async fn one_execution_gives_one_permit_across_stores() {
    let place = Place::new();
    let other = place.open_again();
    let id = place.stored(mail("bob")).await.id();
    let theirs = crate::support::pending(&other, id).await;
    let (_running, _permit) = begin(&place.store, place.pending(id).await).await.unwrap();
    assert_err!(begin(&other, theirs).await, StoreError::Conflict { .. });
}

/// Two contracts with the same key can both be created; one gets the key.
#[tokio::test]
async fn one_key_gives_one_permit() {
    let place = Place::new();
    let first = place.stored(mail("bob")).await;
    let second = place.stored(mail("bob")).await;
    let (holder, second_id) = (first.id(), second.id());
    let (running, permit) = begin(&place.store, first).await.unwrap();
    let before = place.dump();
    assert_err!(begin(&place.store, second).await, StoreError::KeyHeld { by } if *by == holder);
    assert_eq!(place.dump(), before);

    let outcome = applied(permit, "sent").await;
    let _ = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    let again = begin(&place.store, place.pending(second_id).await).await;
    assert_err!(again, StoreError::AlreadyDone { by } if *by == holder);
    assert_eq!(place.status(second_id).await, Status::Pending);
}

/// A contract whose key has COMPLETED cannot be created again.
#[tokio::test]
async fn what_was_done_is_not_created_again() {
    let place = Place::new();
    let done = place.done(mail("bob")).await.id();
    let mut again = pending_mail("bob");
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, StoreError::AlreadyDone { by } if *by == done);
    assert_eq!(again.journal().version(), 0);
    assert_eq!(place.store.list(None).await.unwrap().len(), 1);
    let _ = place.stored(mail("ann")).await;
}

/// EX-15: an action registered as idempotent may run again without a permit; one that its contract
/// marks as irreversible may not.
#[tokio::test]
async fn only_irreversible_actions_keep_their_key() {
    let place = Place::new();
    for _ in 0..2 {
        let pending = place.stored(read("a.txt")).await;
        let mut done = pending.start(&ToolNode).succeed("42 lines".to_owned(), &ToolNode);
        place.store.commit(&mut done).await.unwrap();
    }
    let _ = place.done(read("a.txt").irreversible()).await;
    let mut again = Execution::new(read("a.txt").irreversible());
    assert_err!(place.store.create(&mut again).await, StoreError::AlreadyDone { .. });
    let _ = place.stored(read("a.txt")).await;
}

/// An idempotent action gets no permit: it is started without `begin`.
#[tokio::test]
async fn an_idempotent_action_needs_no_permit() {
    let place = Place::new();
    let pending = place.stored(read("a.txt")).await;
    let id = pending.id();
    let refused = begin(&place.store, pending).await;
    assert_err!(refused, StoreError::NeedsNoPermit { id: of } if *of == id);
    let mut running = place.pending(id).await.start(&ToolNode);
    place.store.commit(&mut running).await.unwrap();
}
