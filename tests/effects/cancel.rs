//! Ending what will never be called.

use machine::{
    contract::{CallFact, Contract, Execution, execution::Status},
    store::{CommitError, LoadError},
    typed::Refused,
    view::Label,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::store::support::{Place, applied, begin, not_applied, on_both};

on_both! {
    the_loser_of_a_key_is_cancelled,
    what_waits_behind_a_refused_gate_is_cancelled,
    a_gate_ends_with_what_waits_behind_it,
    a_gate_that_was_answered_stays_as_it_is,
    an_idempotent_action_is_cancelled,
    one_that_was_never_stored_is_stored_as_cancelled,
    what_was_begun_is_not_cancelled,
    what_was_cancelled_is_not_begun,
    only_cancel_ends_it_without_a_permit,
}

/// It ends without a permit, and leaves the key to the winner.
async fn the_loser_of_a_key_is_cancelled(place: Place) {
    let loser = place.stored(mail("bob")).await;
    let id = loser.id();
    let (running, permit) = place.begun(mail("bob")).await;
    let Err(error) = begin(&place.store, place.pending(id).await).await else { panic!("it lost") };
    assert_err!(Err::<(), _>(error), CommitError::KeyHeld { .. });
    let cancelled = place.store.cancel(loser, "sent by another", tool_node()).await.unwrap();
    assert_eq!(cancelled.state().reason, "sent by another");
    assert!(cancelled.journal().uncommitted().is_empty());
    let facts = place.facts(id).await;
    assert!(matches!(&facts[..], [CallFact::Closed { reason }] if reason == "sent by another"));
    let view = place.view(id).await;
    assert_eq!(view.consequence_label, Label::Cancelled);
    assert!(!view.has_side_effects);

    // The winner still has its key, and ends as it should.
    assert_eq!(place.recovered().await.len(), 0);
    let outcome = applied(permit, "250 queued").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    // Also after that.
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Also the loser that finds out when it is done.
#[tokio::test]
async fn the_loser_is_cancelled_after_the_winner_is_done() {
    for place in [Place::new().await, Place::memory()] {
        let loser = place.stored(mail("bob")).await;
        let _ = place.done(mail("bob")).await;
        let id = loser.id();
        let _ = place.store.cancel(loser, "done by another", tool_node()).await.unwrap();
        assert_eq!(place.status(id).await, Status::Cancelled);
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}

async fn what_waits_behind_a_refused_gate_is_cancelled(place: Place) {
    let mut last = None;
    for is_declined in [true, false] {
        let (gate, planned) = place.asked(mail("bob")).await;
        if is_declined {
            let _ = place.store.decline(gate, "no", ann()).await.unwrap();
        } else {
            let _ = place.store.withdraw(gate, "no", graph_runner()).await.unwrap();
        }
        let id = planned.id();
        let refused = place.store.begin(planned, tool_node()).await.unwrap_err();
        assert_err!(Err::<(), _>(refused.reason), CommitError::NeverRuns { .. });
        // It has ended already, so there is nothing to cancel.
        let pending = refused.machine.into_execution();
        let refused =
            place.store.cancel(pending, "it was declined", tool_node()).await.unwrap_err();
        assert_err!(Err::<(), _>(refused.reason), CommitError::Conflict { .. });
        last = Some(place.cancelled(id).await);
    }
    // The key was never taken.
    let _ = place.done(Contract::retry(&last.unwrap(), ann())).await;
}

/// Nothing is left to approve, so no person is asked any more.
async fn a_gate_ends_with_what_waits_behind_it(place: Place) {
    let (gate, planned) = place.asked(mail("bob")).await;
    let _ = place.store.cancel(planned.into_execution(), "not needed", tool_node()).await.unwrap();
    assert_eq!(place.status(gate.id()).await, Status::Cancelled);
    assert_err!(place.store.gate(gate.id()).await, LoadError::NotAGate { found, .. }
        if found == "CANCELLED (not needed)");
    let refused = machine_tests::approve(&place.store, gate, ann()).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::GateEnded { .. });
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

async fn a_gate_that_was_answered_stays_as_it_is(place: Place) {
    let (gate, planned) = place.asked(mail("bob")).await;
    let id = gate.id();
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let _ = place.store.cancel(planned.into_execution(), "not needed", tool_node()).await.unwrap();
    assert_eq!(place.status(id).await, Status::Completed);
}

/// Approved and cancelled at once: the execution ends in any case, and the gate is answered or withdrawn.
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

async fn an_idempotent_action_is_cancelled(place: Place) {
    let (_gate, planned) = place.asked(read("a.txt")).await;
    let cancelled = place.store.cancel(planned.into_execution(), "not needed", tool_node()).await;
    assert_eq!(place.status(cancelled.unwrap().id()).await, Status::Cancelled);
}

async fn one_that_was_never_stored_is_stored_as_cancelled(place: Place) {
    let cancelled = place.store.cancel(pending_mail("bob"), "not needed", tool_node()).await;
    let id = cancelled.unwrap().id();
    assert_eq!(place.status(id).await, Status::Cancelled);
    assert_eq!(place.entries(id).await.len(), 4);
    let _ = place.done(mail("bob")).await;
}

/// Its worker was faster. Nothing is changed, and the execution comes back.
async fn what_was_begun_is_not_cancelled(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let stale = place.pending(id).await;
    let (running, permit) = begin(&place.store, place.pending(id).await).await.unwrap();
    let before = place.dump().await;
    let Err(Refused { machine, reason }) =
        place.store.cancel(stale, "not needed", tool_node()).await
    else {
        panic!("it was begun");
    };
    assert_err!(Err::<(), _>(reason), CommitError::Conflict { id: of } if *of == id);
    assert_eq!((machine.id(), machine.journal().uncommitted().len()), (id, 0));
    assert_eq!(place.dump().await, before);
    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
}

async fn what_was_cancelled_is_not_begun(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let stale = place.pending(id).await;
    let _ = place.store.cancel(place.pending(id).await, "no", tool_node()).await.unwrap();
    assert_err!(begin(&place.store, stale).await, CommitError::Conflict { id: of } if *of == id);
    let _ = place.done(mail("bob")).await;
}

/// The two transitions alone look like a call that was made without `begin`.
async fn only_cancel_ends_it_without_a_permit(place: Place) {
    let pending = place.stored(mail("bob")).await;
    let mut cancelled = pending.start(tool_node()).cancel("no".to_owned(), tool_node());
    assert_err!(place.store.commit(&mut cancelled).await, CommitError::Refused { breach, .. }
        if breach.to_string().contains("begin"));
    let mut created = Execution::new(mail("bob")).start(tool_node());
    assert_err!(place.store.create(&mut created).await, CommitError::Refused { .. });
}
