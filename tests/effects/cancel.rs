//! Ending what will never be called.

use crate::effects::prelude::*;

on_file! {
    what_did_not_begin_is_cancelled,
    of_a_begin_and_a_cancel_the_first_one_counts,
    only_cancel_ends_it_without_a_permit,
}

/// Approved and cancelled at once: the execution ends in any case, and the gate is answered or
/// withdrawn.
#[tokio::test(flavor = "multi_thread")]
async fn a_race_of_an_answer_and_a_cancel_ends_both() {
    let place = Place::new().await;
    for _ in 0..20 {
        let (gate, planned) = place.asked(mail("bob")).await;
        let (id, mail) = (gate.id(), planned.id());
        let store = place.store.clone();
        let approval =
            tokio::spawn(async move { machine_tests::approve(&store, gate, ann()).await.is_ok() });
        let pending = planned.into_execution();
        let _ = place.store.cancel(pending, "not needed", tool_node()).await.unwrap();
        let expected = if approval.await.unwrap() { Status::Completed } else { Status::Cancelled };
        assert_eq!(place.status(id).await, expected);
        assert_eq!(place.status(mail).await, Status::Cancelled);
    }
}

/// An idempotent action, and one that was never stored: that is stored as cancelled. The key is
/// free.
async fn what_did_not_begin_is_cancelled(place: Place) {
    let (_gate, planned) = place.asked(read("a.txt")).await;
    for pending in [planned.into_execution(), pending_mail("bob")] {
        let cancelled = place.store.cancel(pending, "not needed", tool_node()).await.unwrap();
        assert_eq!(place.status(cancelled.id()).await, Status::Cancelled);
        assert_eq!(place.entries(cancelled.id()).await.len(), 4);
    }
    let _ = place.done(mail("bob")).await;
}

/// Its worker was faster, or it was cancelled, or its gate was declined: nothing is changed, and
/// the execution comes back.
async fn of_a_begin_and_a_cancel_the_first_one_counts(place: Place) {
    let begun = place.stored(mail("bob")).await;
    let _begun = begin(&place.store, place.pending(begun.id()).await).await.unwrap();
    let cancelled = place.stored(mail("carl")).await;
    let theirs = place.pending(cancelled.id()).await;
    let _ = place.store.cancel(theirs, "no", tool_node()).await.unwrap();
    assert_is!(place.refuses(cancelled).await, EffectError::Commit(CommitError::Conflict { .. }));
    let (gate, declined) = place.asked(mail("dora")).await;
    place.decline(gate).await;
    for stale in [begun, declined.into_execution()] {
        let id = stale.id();
        let before = place.dump();
        let refused = place.store.cancel(stale, "not needed", tool_node()).await.unwrap_err();
        assert_is!(refused.reason, EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
        let machine = refused.machine;
        assert_eq!((machine.id(), machine.journal().uncommitted().len()), (id, 0));
        assert_eq!(place.dump(), before);
    }
    let _ = place.done(mail("carl")).await;
}

/// The two transitions alone look like a call that was made without `begin`.
async fn only_cancel_ends_it_without_a_permit(place: Place) {
    let pending = place.stored(mail("bob")).await;
    let mut cancelled = pending.start(tool_node()).cancel("no".to_owned(), tool_node());
    assert_is!(place.refuses_machine(&mut cancelled).await,
        EffectError::Commit(CommitError::Refused { breach, .. }) if breach.to_string().contains("begin"));
    let started = Execution::new(mail("bob")).start(tool_node());
    let mut created = started.cancel("no".to_owned(), tool_node());
    let refused = place.refuses_machine(&mut created).await;
    assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
}
