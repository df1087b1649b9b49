//! Answers that come too late: they are evidence, and evidence outranks opinion.

use crate::effects::{
    prelude::*,
    timed_out::{end, hasty},
};

on_file! {
    a_call_that_is_fenced_and_times_out_goes_on,
    a_late_receipt_cannot_be_overruled,
    a_fenced_worker_cannot_commit,
}

/// A call whose worker was fenced because it was overdue.
async fn overdue(place: &Place) -> (Place, Execution<Running>, InFlight) {
    let (place, clock) = place.clocked().await;
    let (running, permit) = place.begun(mail("bob").timeout_after(Duration::from_secs(30))).await;
    let call = in_flight(permit).await;
    clock.advance(30_000);
    assert_eq!(place.recovered().await.len(), 0, "it is still in time");
    clock.advance(1);
    let found = recovered(&place.open_again().await).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].journal().epoch(), 1);
    (place, running, call)
}

/// Another process declared it overdue, and its own time limit ends its wait after that: the call
/// continues, and its answer is kept.
async fn a_call_that_is_fenced_and_times_out_goes_on(place: Place) {
    let (running, permit) = place.begun(hasty(mail("bob"))).await;
    let id = running.id();
    let (service, mut holder) = held_back();
    let call = tokio::spawn(permit.call(service));
    holder.started().await;
    let _ = place.fenced(id).await;
    let settled = place.store.settle(running, call.await.unwrap(), tool_node()).await;
    let Ok(Settled::Fenced(current, late)) = settled else { panic!("{settled:?}") };
    assert_eq!((current.id(), current.status()), (id, Status::Waiting));
    let kept = end(tokio::spawn(late), holder, receipt("250 queued")).await;
    assert_eq!(kept, Evidence::Applied("250 queued".to_owned()));
    place.is_completed_late(id, "250 queued").await;
}

/// A person cannot deny a receipt, not even with an override. A machine that was loaded before it
/// conflicts.
async fn a_late_receipt_cannot_be_overruled(place: Place) {
    let (place, running, call) = overdue(&place).await;
    let id = running.id();
    let stale = place.store.in_doubt(id).await.unwrap();
    place.settles_late(running, call, receipt("250 queued")).await;
    let refused = place.store.override_not_applied(stale, "nothing there", ann()).await;
    assert_is!(refused.unwrap_err().reason, EffectError::Commit(CommitError::Conflict { .. }));

    let doubt = place.store.in_doubt(id).await.unwrap();
    let (doubt, refused) = place.refuses_denial(doubt).await;
    assert!(refused.to_string().contains("a receipt proves"), "{refused}");
    assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let before = place.dump();
    let refused = place.store.override_not_applied(doubt, "really", ann()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Refused { .. }));
    let lost = Counting::finds(Err(NoReceipt::not_applied("unknown to us")));
    let refused = place.store.ask_service::<Action>(refused.machine, &lost, tool_node()).await;
    let refused = refused.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Refused { .. }));
    assert_eq!(place.dump(), before);
    place.confirm(refused.machine).await;
}

/// A fenced worker cannot commit its machine in another way.
async fn a_fenced_worker_cannot_commit(place: Place) {
    let (place, running, call) = overdue(&place).await;
    let outcome = call.answer(receipt("250 queued")).await;
    let refused = place.store.settle(running, outcome, tool_node()).await.unwrap_err();
    let mut forged = refused.machine.0.suspend("later".to_owned(), tool_node());
    let refused = place.refuses_machine(&mut forged).await;
    assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
}
