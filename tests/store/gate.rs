//! Actions deferred behind a confirmation (EX-9).

use machine::{
    actor::{GraphRunner, ReasoningNode, ToolNode},
    contract::{
        AnyExecution, Execution, defer,
        execution::{Event, Pending, Status},
    },
    store::StoreError,
};
use machine_tests::{
    assert_err, forge,
    samples::{ask, mail},
};

use crate::support::{Place, begin};

/// Stores a gate in WAITING and the deferred mail.
async fn deferred(place: &Place) -> (AnyExecution, Execution<Pending>) {
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.create_all(&mut [&mut gate, &mut mail]).await.unwrap();
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
#[tokio::test]
async fn behind_an_open_question_it_waits() {
    let place = Place::new();
    let (mut gate, mail) = deferred(&place).await;
    let id = mail.id();
    let before = place.dump();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, StoreError::Deferred { id: of, gate: by, status }
        if *of == id && *by == gate.id() && status.as_str() == "waiting");
    assert_eq!(place.dump(), before);

    moved(&place, &mut gate, vec![Event::Resume]).await;
    let refused = begin(&place.store, place.pending(id).await).await;
    assert_err!(refused, StoreError::Deferred { status, .. } if status.as_str() == "running");
    assert_eq!(place.status(id).await, Status::Pending);
}

/// After COMPLETED, `begin` issues a permit.
#[tokio::test]
async fn behind_a_yes_it_runs() {
    let place = Place::new();
    let (mut gate, mail) = deferred(&place).await;
    moved(&place, &mut gate, vec![Event::Resume, answer("yes")]).await;
    let (running, permit) = begin(&place.store, mail).await.unwrap();
    assert_eq!(permit.execution_id(), running.id());
}

/// After REJECTED, CANCELLED or FAILED the action never runs.
#[tokio::test]
async fn behind_a_no_it_never_runs() {
    let no = || "no".to_owned();
    for (events, end) in [
        (vec![Event::Resume, Event::Reject { reason: no() }], "rejected"),
        (vec![Event::Cancel { reason: no() }], "cancelled"),
        (vec![Event::Timeout { reason: no() }], "cancelled"),
        (vec![Event::Resume, Event::Fail { error: no() }], "failed"),
    ] {
        let place = Place::new();
        let (mut gate, mail) = deferred(&place).await;
        let id = mail.id();
        moved(&place, &mut gate, events).await;
        let refused = begin(&place.store, mail).await;
        assert_err!(refused, StoreError::NeverRuns { id: of, gate: by, status }
            if *of == id && *by == gate.id() && status.as_str() == end);
        assert_eq!(place.status(id).await, Status::Pending);
    }
}

/// A gate for another action does not confirm this one.
#[tokio::test]
async fn a_gate_confirms_one_action() {
    let place = Place::new();
    let (gate, _) = defer(mail("ann"), "Send it to ann?", &ReasoningNode).unwrap();
    let (_, mail) = defer(mail("bob"), "Send it to bob?", &ReasoningNode).unwrap();
    // The library never mixes up the two; a forger does.
    let mut claim = forge::claim(&mail);
    let (theirs, mine) = (mail.context().behind().unwrap().to_string(), gate.id().to_string());
    claim.record.context = claim.record.context.replace(&theirs, &mine);
    let AnyExecution::Pending(mut mail) = forge::cross_execution(claim).unwrap() else { panic!() };

    let mut gate = ask(gate).resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
    place.store.create_all(&mut [&mut gate, &mut mail]).await.unwrap();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, StoreError::OtherAction { gate: by, .. } if *by == gate.id());
}

/// A gate that is not in the store counts as missing, not as open.
#[tokio::test]
async fn a_missing_gate_is_not_open() {
    let place = Place::new();
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    place.store.create(&mut mail).await.unwrap();
    let refused = place.store.begin(mail, &ToolNode).await;
    assert_err!(refused, StoreError::NotFound { id } if *id == gate.id());
}
