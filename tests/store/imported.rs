//! Executions that were read from data: what counts of them in a store, and what does not.

use machine::{
    Id,
    contract::{
        AnyExecution, CallFact, Contract, Execution, Liveness, Settled,
        execution::{Pending, Status},
    },
    effects::EffectError,
    store::CommitError,
    stored::{Durable, Unverified},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{mail, pending_mail, read},
};

use crate::store::support::{Place, applied, begin, gated, not_applied, on_file};

on_file! {
    a_pending_irreversible_action_is_not_imported,
    one_pending_execution_is_not_begun_in_two_stores,
    a_decided_gate_is_not_imported,
    an_open_gate_of_another_store_approves_nothing_here,
    an_idempotent_action_may_be_imported,
    an_imported_receipt_is_respected,
    an_imported_running_call_is_in_doubt,
    an_ended_execution_may_be_imported,
}

/// The machine as it comes back from JSON text.
fn read_back(claim: &Unverified) -> AnyExecution {
    let json = serde_json::to_string(claim).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    claim.verify().unwrap()
}

fn through_json(machine: &dyn Durable) -> AnyExecution {
    read_back(&Unverified::of(machine).unwrap())
}

async fn exported(place: &Place, id: Id) -> AnyExecution {
    read_back(&place.store.export(id).await.unwrap())
}

async fn refuse(place: &Place, mut imported: AnyExecution) {
    let before = place.dump();
    let refused = place.store.create(&mut imported).await;
    assert_err!(refused, EffectError::Imported { id } if *id == imported.id());
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("plan the action here"), "{text}");
    assert_eq!(place.dump(), before);
}

/// Regardless of whether it was stored elsewhere or never, and with any decider.
async fn a_pending_irreversible_action_is_not_imported(place: Place) {
    refuse(&place, through_json(&pending_mail("bob"))).await;
    refuse(&place, through_json(&Execution::new(read("a.txt").irreversible()))).await;
    let elsewhere = place.another().await;
    let (running, permit) = elsewhere.begun(mail("bob")).await;
    let outcome = not_applied(permit, "connection refused").await;
    let Settled::Failed(failed) = elsewhere.settled(running, outcome).await else {
        panic!("nothing took effect")
    };
    let retry = elsewhere.stored(Contract::retry(&failed, ann())).await;
    refuse(&place, exported(&elsewhere, retry.id()).await).await;
}

/// The one who has it in two files has one permit.
async fn one_pending_execution_is_not_begun_in_two_stores(place: Place) {
    let other = place.another().await;
    let id = place.stored(mail("bob")).await.id();
    refuse(&other, exported(&place, id).await).await;
    // A typed machine of one store is not of another one either.
    let pending: Execution<Pending> = place.pending(id).await;
    let refused = begin(&other.store, pending).await;
    assert_err!(refused, EffectError::Commit(CommitError::OtherStore { id: of }) if *of == id);
    let _ = begin(&place.store, place.pending(id).await).await.unwrap();
}

/// This answer was not given here.
async fn a_decided_gate_is_not_imported(place: Place) {
    for is_yes in [true, false] {
        let elsewhere = place.another().await;
        let (gate, planned) = elsewhere.asked(read("secret.txt")).await;
        let id = gate.id();
        if is_yes {
            let _ = machine_tests::approve(&elsewhere.store, gate, ann()).await.unwrap();
        } else {
            let _ = elsewhere.store.decline(gate, "no", ann()).await.unwrap();
        }
        refuse(&place, exported(&elsewhere, id).await).await;
        // The action behind it can be stored, and does not run.
        let _ = place.created(exported(&elsewhere, planned.id()).await).await;
        if !is_yes {
            // It ended with its gate.
            assert_eq!(place.status(planned.id()).await, Status::Cancelled);
            continue;
        }
        let refused = begin(&place.store, place.pending(planned.id()).await).await;
        assert_err!(refused, EffectError::Gate { .. });
    }
}

/// It asks for an execution that is not here.
async fn an_open_gate_of_another_store_approves_nothing_here(place: Place) {
    let (gate, _mail) = gated(mail("bob"));
    let _ = place.created(through_json(&*gate)).await;
    let shown = gate.whole_question().unwrap().digest;
    let gate = place.store.gate(gate.id()).await.unwrap();
    assert_eq!(gate.whole_question(), None);
    let refused = place.store.approve(gate, shown, ann()).await.map_err(|refused| refused.reason);
    assert_err!(refused, EffectError::GateChanged { .. });
}

async fn an_idempotent_action_may_be_imported(place: Place) {
    let imported = place.created(through_json(&Execution::new(read("a.txt")))).await;
    let (running, permit) = begin(&place.store, place.pending(imported.id()).await).await.unwrap();
    let outcome = applied(permit, "42 lines").await;
    let _ = place.settled(running, outcome).await;
}

/// A receipt counts wherever it was given.
async fn an_imported_receipt_is_respected(place: Place) {
    let elsewhere = place.another().await;
    let done = elsewhere.done(mail("bob")).await.id();
    let pending = place.stored(mail("bob")).await;
    let _ = place.created(exported(&elsewhere, done).await).await;
    assert_err!(begin(&place.store, pending).await,
        EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == done);
    assert_err!(place.store.create(&mut pending_mail("bob")).await,
        EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == done);
}

/// Its worker may be doing it, so it holds its key, and that worker is unknown here.
async fn an_imported_running_call_is_in_doubt(place: Place) {
    let elsewhere = place.another().await;
    let (running, _permit) = elsewhere.begun(mail("bob")).await;
    let id = running.id();
    let _ = place.created(exported(&elsewhere, id).await).await;
    let pending = place.stored(mail("bob")).await;
    assert_err!(begin(&place.store, pending).await,
        EffectError::Commit(CommitError::KeyHeld { by, .. }) if *by == id);
    let doubt = place.recovered().await.pop().unwrap();
    assert_eq!(doubt.id(), id);
    let facts = place.facts(id).await;
    assert!(
        facts.iter().any(|fact| matches!(fact, CallFact::Parked { worker: Liveness::Unknown, .. }))
    );
    let refused = place.store.confirm_not_applied(doubt, "not there", ann()).await;
    let refused = refused.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), EffectError::WorkerUnknown { id: of } if *of == id);
    let done = place.store.confirm_applied(refused.machine, "bob has it", ann()).await;
    assert_eq!(place.status(done.unwrap().id()).await, Status::Completed);
}

/// It no longer runs anywhere.
async fn an_ended_execution_may_be_imported(place: Place) {
    let elsewhere = place.another().await;
    let loser = elsewhere.stored(mail("bob")).await;
    let cancelled = elsewhere.store.cancel(loser, "not needed", tool_node()).await.unwrap();
    let imported = place.created(exported(&elsewhere, cancelled.id()).await).await;
    assert_eq!(place.status(imported.id()).await, Status::Cancelled);
    let _ = place.done(mail("bob")).await;
}
