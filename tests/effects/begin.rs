//! `begin` takes the key and issues the permit (EX-5).

use std::time::Duration;

use machine::{
    contract::{CallFact, Contract, Evidence, Execution, Settled, execution::Status},
    journal::Fact,
    store::{CommitError, Query},
};
use machine_tests::actors::{ann, tool_node};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::store::support::{Place, applied, begin, not_applied, on_both, unknown};

on_both! {
    the_hold_is_on_disk_before_the_permit_is_out,
    a_permit_says_what_it_is_for,
    one_execution_gives_one_permit,
    one_execution_gives_one_permit_across_stores,
    one_key_gives_one_permit,
    what_was_done_is_not_created_again,
    only_irreversible_actions_keep_their_key,
    an_idempotent_action_is_begun_without_its_key,
    an_idempotent_action_is_never_in_doubt,
}

/// When `begin` returns, RUNNING, the hold and the permit are on disk, in this order.
async fn the_hold_is_on_disk_before_the_permit_is_out(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    assert!(running.journal().uncommitted().is_empty());
    let entries = place.entries(running.id()).await;
    assert_eq!(entries.len(), 4);
    assert!(matches!(entries[0].fact, Fact::Created { .. }), "{entries:?}");
    assert!(matches!(entries[2].fact, Fact::Moved { .. }), "{entries:?}");
    let calls = entries.iter().map(CallFact::of).collect::<Vec<_>>();
    let [
        None,
        Some(CallFact::Held { key }),
        None,
        Some(CallFact::Permitted { action, epoch: 0, .. }),
    ] = &calls[..]
    else {
        panic!("{calls:?}");
    };
    assert_eq!(permit.key().unwrap().as_str(), key);
    assert_eq!(*action, running.context().action().digest());
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// A permit has the execution, the key, a token and a time limit.
async fn a_permit_says_what_it_is_for(place: Place) {
    let (running, permit) = place.begun(mail("bob").timeout_after(Duration::from_secs(7))).await;
    assert_eq!(permit.execution_id(), running.id());
    assert_eq!(permit.key(), running.context().idempotency_key());
    // The entry of the permit is the newest one of the store.
    let token = permit.token();
    let newest = place.store.position().await.unwrap().to_string();
    assert_eq!(format!("{}.{}", token.generation(), token.sequence()), newest);
    assert_eq!(permit.timeout(), Some(Duration::from_secs(7)));
}

/// If two callers begin the same execution, one gets a permit.
async fn one_execution_gives_one_permit(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let (mine, theirs) = (place.pending(id).await, place.pending(id).await);
    let (_running, _permit) = begin(&place.store, mine).await.unwrap();
    let before = place.dump().await;
    assert_err!(begin(&place.store, theirs).await, CommitError::Conflict { id: of } if *of == id);
    assert_eq!(place.dump().await, before);
}

/// Also through two stores.
async fn one_execution_gives_one_permit_across_stores(place: Place) {
    let other = place.open_again().await;
    let id = place.stored(mail("bob")).await.id();
    let theirs = crate::store::support::pending(&other, id).await;
    let (_running, _permit) = begin(&place.store, place.pending(id).await).await.unwrap();
    assert_err!(begin(&other, theirs).await, CommitError::Conflict { .. });
}

/// Two contracts with the same key can both be created; one gets the key.
async fn one_key_gives_one_permit(place: Place) {
    let first = place.stored(mail("bob")).await;
    let second = place.stored(mail("bob")).await;
    let (holder, second_id) = (first.id(), second.id());
    let (running, permit) = begin(&place.store, first).await.unwrap();
    let before = place.dump().await;
    assert_err!(begin(&place.store, second).await, CommitError::KeyHeld { id, by }
        if *id == second_id && *by == holder);
    assert_eq!(place.dump().await, before);

    let outcome = applied(permit, "sent").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let again = begin(&place.store, place.pending(second_id).await).await;
    assert_err!(again, CommitError::AlreadyDone { id, by }
        if *id == second_id && *by == holder);
    assert_eq!(place.status(second_id).await, Status::Pending);
}

/// A contract whose key has COMPLETED cannot be created again.
async fn what_was_done_is_not_created_again(place: Place) {
    let done = place.done(mail("bob")).await.id();
    let mut again = pending_mail("bob");
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, CommitError::AlreadyDone { id, by }
        if *id == again.id() && *by == done);
    assert_eq!(again.journal().version(), 0);
    assert_eq!(place.lines(&Query::new()).await.len(), 1);
    let _ = place.stored(mail("ann")).await;
}

/// EX-15: an action registered as idempotent may run again; one that its contract marks as
/// irreversible may not.
async fn only_irreversible_actions_keep_their_key(place: Place) {
    for _ in 0..2 {
        let pending = place.stored(read("a.txt")).await;
        let mut done = pending.start(tool_node()).succeed("42 lines".to_owned(), tool_node());
        place.store.commit(&mut done).await.unwrap();
        let _ = place.done(read("a.txt")).await;
    }
    let _ = place.done(read("a.txt").irreversible()).await;
    let mut again = Execution::new(read("a.txt").irreversible());
    assert_err!(place.store.create(&mut again).await, CommitError::AlreadyDone { .. });
    let _ = place.stored(read("a.txt")).await;
}

/// `begin` starts an idempotent action too, and takes no key for it: several run at once.
async fn an_idempotent_action_is_begun_without_its_key(place: Place) {
    let (first, permit) = place.begun(read("a.txt")).await;
    let (second, other) = place.begun(read("a.txt")).await;
    assert_ne!(first.id(), second.id());
    assert_eq!(first.context().idempotency_key(), second.context().idempotency_key());
    for (running, permit) in [(first, permit), (second, other)] {
        let id = running.id();
        let facts = place.facts(id).await;
        assert!(matches!(&facts[..], [CallFact::Permitted { epoch: 0, .. }]), "{facts:?}");
        assert_eq!(permit.key(), running.context().idempotency_key());
        let outcome = applied(permit, "42 lines").await;
        let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Completed(_)));
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Calling an idempotent action again does no harm, so without a receipt it has failed.
async fn an_idempotent_action_is_never_in_doubt(place: Place) {
    for is_known in [true, false] {
        let (running, permit) = place.begun(read("a.txt")).await;
        let outcome = if is_known {
            not_applied(permit, "no such file").await
        } else {
            unknown(permit, "read timed out").await
        };
        assert_eq!(matches!(outcome.evidence(), Evidence::NotApplied(_)), is_known);
        let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
        let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
        assert_eq!(place.recovered().await.len(), 0);
        let _ = place.done(Contract::retry(&failed, ann())).await;
    }
}
