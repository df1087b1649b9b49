//! Ending what will never be called.

use crate::effects::prelude::*;

on_file! {
    the_loser_of_a_key_is_cancelled,
    a_gate_ends_with_what_waits_behind_it,
    what_did_not_begin_is_cancelled,
    of_a_begin_and_a_cancel_the_first_one_counts,
    only_cancel_ends_it_without_a_permit,
}

/// It ends without a permit, and leaves the key to the winner, before that is done and after.
async fn the_loser_of_a_key_is_cancelled(place: Place) {
    let (loser, late_loser) = (place.stored(mail("bob")).await, place.stored(mail("bob")).await);
    let id = loser.id();
    let (running, permit) = place.begun(mail("bob")).await;
    assert_is!(
        place.refuses(place.pending(id).await).await,
        EffectError::Commit(CommitError::KeyHeld { .. })
    );
    let cancelled = place.store.cancel(loser, "sent by another", tool_node()).await.unwrap();
    assert_eq!(cancelled.state().reason, "sent by another");
    assert!(cancelled.journal().uncommitted().is_empty());
    let facts = place.facts(id).await;
    assert!(matches!(&facts[..], [CallFact::Closed { reason, .. }] if reason == "sent by another"));
    let view = place.view(id).await;
    assert_eq!(view.consequence_label, Label::Cancelled);
    assert!(!view.has_side_effects);

    // The winner still has its key, and ends as it should.
    assert_eq!(place.recovered().await.len(), 0);
    let outcome = applied(permit, "250 queued").await;
    let _ = place.settled(running, outcome).await;
    let cancelled = place.store.cancel(late_loser, "done by another", tool_node()).await.unwrap();
    assert_eq!(place.status(cancelled.id()).await, Status::Cancelled);
    place.assert_intact().await;
}

/// Nothing is left to approve, so no person is asked. A gate that was answered stays as it is.
async fn a_gate_ends_with_what_waits_behind_it(place: Place) {
    for is_answered in [false, true] {
        let (gate, planned) = place.asked(mail("bob")).await;
        let id = gate.id();
        let theirs = place.gate(id).await;
        if is_answered {
            place.approve(theirs).await;
        }
        let pending = planned.into_execution();
        let _ = place.store.cancel(pending, "not needed", tool_node()).await.unwrap();
        let found = "CANCELLED (not needed)";
        if is_answered {
            assert_eq!(place.status(id).await, Status::Completed);
        } else {
            assert_err!(place.store.gate(id).await, StateError::NotAGate { found: as_what, .. }
                if as_what == found);
            assert_is!(place.refuses_approval(gate).await.1,
                EffectError::GateEnded { id: of, found: as_what } if *of == id && as_what == found);
        }
    }
    place.assert_intact().await;
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
    assert_is!(
        place.refuses_machine(&mut created).await,
        EffectError::Commit(CommitError::Refused { .. })
    );
}
