//! Actions deferred behind a confirmation (EX-9).

use machine::{
    actor::{GraphRunner, ReasoningNode},
    contract::{
        AnyExecution, Execution, defer,
        execution::{Event, Pending, Status},
    },
    store::{CommitError, LoadError},
};
use machine_tests::{
    assert_err, forge,
    samples::{ask, mail},
};

use crate::support::{Place, begin, on_both};

on_both! {
    behind_an_open_question_it_waits,
    behind_a_yes_it_runs,
    behind_a_no_it_never_runs,
    a_gate_confirms_one_action,
    a_missing_gate_is_not_open,
}

/// Stores a gate in WAITING and the deferred mail.
async fn deferred(place: &Place) -> (AnyExecution, Execution<Pending>) {
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.batch().create(&mut gate).create(&mut mail).write().await.unwrap();
    (gate.into(), mail)
}

async fn moved(place: &Place, gate: &mut AnyExecution, events: Vec<Event>) {
    for event in events {
        gate.apply_mut(event, &GraphRunner).unwrap();
    }
    place.store.commit(gate).await.unwrap();
}

fn answer(result: &str) -> Event {
    Event::Succeed { result: result.to_owned() }
}

/// While the gate is WAITING or RUNNING, the action is deferred.
async fn behind_an_open_question_it_waits(place: Place) {
    let (mut gate, mail) = deferred(&place).await;
    let id = mail.id();
    let before = place.dump().await;
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Deferred { id: of, gate: by, status }
        if *of == id && *by == gate.id() && status.as_str() == "waiting");
    assert_eq!(place.dump().await, before);

    moved(&place, &mut gate, vec![Event::Resume]).await;
    let refused = begin(&place.store, place.pending(id).await).await;
    assert_err!(refused, CommitError::Deferred { status, .. } if status.as_str() == "running");
    assert_eq!(place.status(id).await, Status::Pending);
}

/// After COMPLETED, `begin` issues a permit.
async fn behind_a_yes_it_runs(place: Place) {
    let (mut gate, mail) = deferred(&place).await;
    moved(&place, &mut gate, vec![Event::Resume, answer("yes")]).await;
    let (running, permit) = begin(&place.store, mail).await.unwrap();
    assert_eq!(permit.execution_id(), running.id());
}

/// After REJECTED, CANCELLED or FAILED the action never runs.
async fn behind_a_no_it_never_runs(place: Place) {
    let no = || "no".to_owned();
    for (events, end) in [
        (vec![Event::Resume, Event::Reject { reason: no() }], "rejected"),
        (vec![Event::Cancel { reason: no() }], "cancelled"),
        (vec![Event::Timeout { reason: no() }], "cancelled"),
        (vec![Event::Resume, Event::Fail { error: no() }], "failed"),
    ] {
        let place = place.another().await;
        let (mut gate, mail) = deferred(&place).await;
        let id = mail.id();
        moved(&place, &mut gate, events).await;
        let refused = begin(&place.store, mail).await;
        assert_err!(refused, CommitError::NeverRuns { id: of, gate: by, status }
            if *of == id && *by == gate.id() && status.as_str() == end);
        assert_eq!(place.status(id).await, Status::Pending);
    }
}

/// A gate for another action does not confirm this one.
async fn a_gate_confirms_one_action(place: Place) {
    let (gate, _) = defer(mail("ann"), "Send it to ann?", &ReasoningNode).unwrap();
    let (_, mail) = defer(mail("bob"), "Send it to bob?", &ReasoningNode).unwrap();
    // The library never mixes up the two; a forger does.
    let mut claim = forge::claim(&mail);
    let (theirs, mine) = (mail.context().behind().unwrap().to_string(), gate.id().to_string());
    claim.record.context = claim.record.context.replace(&theirs, &mine);
    let AnyExecution::Pending(mut mail) = forge::cross_execution(claim).unwrap() else { panic!() };

    let mut gate = ask(gate).resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
    place.store.batch().create(&mut gate).create(&mut mail).write().await.unwrap();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::OtherAction { gate: by, .. } if *by == gate.id());
}

/// A gate that is not in the store counts as missing, not as open.
async fn a_missing_gate_is_not_open(place: Place) {
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    place.store.create(&mut mail).await.unwrap();
    let id = mail.id();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Gate { id: of, source } if *of == id
        && matches!(**source, LoadError::NotFound { id: missing } if missing == gate.id()));
}
