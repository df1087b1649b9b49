//! `begin` takes the key and issues the permit.

use crate::effects::prelude::*;

on_file! {
    the_hold_is_on_disk_before_the_permit_is_out,
    one_execution_gives_one_permit,
    two_machines_of_a_batch_do_not_both_get_a_key,
    rejected_and_cancelled_free_the_key,
    only_irreversible_actions_keep_their_key,
    an_idempotent_action_is_begun_without_its_key,
    an_idempotent_action_is_never_in_doubt,
}

/// When `begin` returns, RUNNING, the hold and the permit are on disk, in this order. The permit
/// has the execution, the key and a token.
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
    assert_eq!(permit.attempt().key.as_ref().unwrap().as_str(), key);
    assert_eq!(*action, running.context().action().digest());
    assert_eq!(place.status(running.id()).await, Status::Running);

    assert_eq!(permit.attempt().execution_id, running.id());
    assert_eq!(permit.attempt().key.as_ref(), running.context().idempotency_key());
    // The entry of the permit is the newest one of the store.
    let token = permit.token().to_string();
    let numbers: Vec<u64> = token.split('-').map(|number| number.parse().unwrap()).collect();
    let newest = place.store.position().await.unwrap().to_string();
    assert_eq!(format!("{}.{}", numbers[0], numbers[1]), newest);
}

/// If several callers begin the same execution, also through another store of the file, one gets a
/// permit. Another file gives none, also to the machine itself.
async fn one_execution_gives_one_permit(place: Place) {
    let other = place.open_again().await;
    let id = place.stored(mail("bob")).await.id();
    let (mine, theirs) = (place.pending(id).await, place.pending(id).await);
    let elsewhere = pending(&other, id).await;
    let foreign = place.another().await;
    let mut mine: Planned<Action> = mine.into();
    let twice = foreign.store.batch().create(mine.machine()).write().await;
    assert_err!(twice, EffectError::Commit(CommitError::OtherStore { .. }));
    let refused = foreign.store.begin(mine, tool_node()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::OtherStore { .. }));
    let (_running, _permit) = begin(&place.store, refused.machine).await.unwrap();
    assert_is!(place.refuses(theirs).await,
        EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
    let refused = begin(&other, elsewhere).await;
    assert_err!(refused, EffectError::Commit(CommitError::Conflict { .. }));
}

/// Neither or one, never both.
async fn two_machines_of_a_batch_do_not_both_get_a_key(place: Place) {
    let (first, second) = (place.stored(mail("bob")).await, place.stored(mail("bob")).await);
    let ids = [first.id(), second.id()];
    let before = place.dump();
    let mut begins = [begin_of(first), begin_of(second)];
    let [one, other] = &mut begins;
    let refused = place.store.batch().change(one).change(other).write().await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyHeld { id, by }) if [*by, *id] == ids);
    assert_eq!(place.dump(), before);
    let [one, other] = begins.map(|begin| begin.finish().unwrap_err());
    let (running, _permit) = begin(&place.store, one).await.unwrap();
    assert_is!(place.refuses(other).await,
        EffectError::Commit(CommitError::KeyHeld { by, .. }) if *by == running.id());
}

/// REJECTED and CANCELLED release the key, once there is evidence that nothing happened.
async fn rejected_and_cancelled_free_the_key(place: Place) {
    for (trigger, end) in [("reject", "rejected"), ("cancel", "cancelled")] {
        // The library reaches these states only after evidence, but a journal can contain them.
        let from = place.another().await;
        let id = from.failed(mail("bob")).await.id();
        let payload = serde_json::json!({ "reason": "no" });
        let mut ended = from.forged_end(id, trigger, end, &payload).await.unwrap();

        let elsewhere = place.another().await;
        elsewhere.store.create(&mut ended).await.unwrap();
        assert_eq!(elsewhere.status(ended.id()).await.as_str(), end);
        let _ = elsewhere.done(mail("bob")).await;
    }
}

/// An action registered as idempotent may run again; one that its contract marks as
/// irreversible may not.
async fn only_irreversible_actions_keep_their_key(place: Place) {
    for _ in 0..2 {
        let pending = place.stored(read("a.txt")).await;
        let mut done = pending.start(tool_node()).succeed("42 lines".to_owned(), tool_node());
        place.store.commit(&mut done).await.unwrap();
        let _ = place.done(read("a.txt")).await;
    }
    let done = place.done(read("a.txt").irreversible()).await;
    place.is_done(read("a.txt").irreversible(), done.id()).await;
    let _ = place.stored(read("a.txt")).await;
}

/// `begin` starts an idempotent action too, and takes no key for it: several run at once.
async fn an_idempotent_action_is_begun_without_its_key(place: Place) {
    let begun = [place.begun(read("a.txt")).await, place.begun(read("a.txt")).await];
    let [(first, _), (second, _)] = &begun;
    assert_ne!(first.id(), second.id());
    assert_eq!(first.context().idempotency_key(), second.context().idempotency_key());
    for (running, permit) in begun {
        let facts = place.facts(running.id()).await;
        assert!(matches!(&facts[..], [CallFact::Permitted { epoch: 0, .. }]), "{facts:?}");
        assert_eq!(permit.attempt().key.as_ref(), running.context().idempotency_key());
        let outcome = applied(permit, "42 lines").await;
        let settled = place.settled(running, outcome).await;
        assert_is!(settled, Settled::Completed(_));
    }
    place.assert_intact().await;
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
        let settled = place.settled(running, outcome).await;
        let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
        assert_eq!(place.recovered().await.len(), 0);
        let _ = place.done(Contract::retry(&failed, ann())).await;
    }
}
