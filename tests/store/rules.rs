//! Refused commits of irreversible executions; the file and the machine stay unchanged.

use machine::{
    actor::{EcsNode, GraphRunner, ToolNode},
    contract::{
        AnyExecution, Execution, Settled,
        execution::{Event, Running, Status},
    },
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};

use crate::support::{Place, not_applied};

/// Moves a running execution by an event, and expects the commit to be refused.
async fn refuse(place: &Place, running: Execution<Running>, event: Event) {
    let id = running.id();
    let before = place.dump();
    let mut moved = AnyExecution::from(running).apply(event, &ToolNode).unwrap();
    let entries = moved.journal().entries().to_vec();
    let refused = place.store.commit(&mut moved).await;
    assert_err!(refused, StoreError::Refused { id: of, .. } if *of == id);
    assert_eq!(moved.journal().entries(), entries);
    assert_eq!(place.dump(), before);
    assert_eq!(place.status(id).await, Status::Running);
}

/// EX-5: it can only be started through `begin`.
#[tokio::test]
async fn a_plain_start_is_refused() {
    let place = Place::new();
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let before = place.dump();
    let mut running = pending.start(&ToolNode);
    let refused = place.store.commit(&mut running).await;
    assert_err!(refused, StoreError::Refused { breach, .. } if breach.to_string().contains("begin"));
    assert_eq!(running.journal().uncommitted().len(), 1);
    assert_eq!(place.dump(), before);
    assert_eq!(place.status(id).await, Status::Pending);
}

/// One that was started without `begin` cannot be created, whatever state it is in.
#[tokio::test]
async fn a_started_one_is_not_created() {
    let place = Place::new();
    let mut running = pending_mail("bob").start(&EcsNode);
    assert_err!(place.store.create(&mut running).await, StoreError::Refused { .. });
    let mut done = running.succeed("sent".to_owned(), &ToolNode);
    assert_err!(place.store.create(&mut done).await, StoreError::Refused { .. });
    assert_eq!(place.store.list(None).await.unwrap(), []);
}

/// COMPLETED needs evidence.
#[tokio::test]
async fn succeeding_without_evidence_is_refused() {
    let place = Place::new();
    let (running, _permit) = place.begun(mail("bob")).await;
    refuse(&place, running, Event::Succeed { result: "sent".to_owned() }).await;
}

/// It cannot end while its permit is unanswered: that would release the key.
#[tokio::test]
async fn ending_with_an_unanswered_permit_is_refused() {
    let no = || "no".to_owned();
    for event in [
        Event::Fail { error: no() },
        Event::Reject { reason: no() },
        Event::Cancel { reason: no() },
    ] {
        let place = Place::new();
        let (running, _permit) = place.begun(mail("bob")).await;
        refuse(&place, running, event).await;
    }
}

/// It cannot wait either: it would count as in doubt while its worker is alive, and the answer
/// could release its key.
#[tokio::test]
async fn suspending_with_an_unanswered_permit_is_refused() {
    let place = Place::new();
    let (running, _permit) = place.begun(mail("bob")).await;
    refuse(&place, running, Event::Suspend { prompt: "still there?".to_owned() }).await;
    assert_eq!(place.store.recover().await.unwrap().len(), 0);
}

/// An execution in doubt cannot resume.
#[tokio::test]
async fn resuming_what_is_in_doubt_is_refused() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    assert_eq!(place.store.recover().await.unwrap().len(), 1);
    let mut waiting: AnyExecution = place.store.load(running.id()).await.unwrap();
    waiting.apply_mut(Event::Resume, &GraphRunner).unwrap();
    assert_err!(place.store.commit(&mut waiting).await, StoreError::Refused { .. });
    assert_eq!(place.status(running.id()).await, Status::Waiting);
}

/// It cannot end through WAITING either.
#[tokio::test]
async fn ending_through_waiting_is_refused() {
    let no = || "no".to_owned();
    for event in [Event::Cancel { reason: no() }, Event::Timeout { reason: no() }] {
        let place = Place::new();
        let (running, permit) = place.begun(mail("bob")).await;
        let id = running.id();
        drop(permit);
        assert_eq!(place.store.recover().await.unwrap().len(), 1);
        let mut waiting: AnyExecution = place.store.load(id).await.unwrap();
        waiting.apply_mut(event, &GraphRunner).unwrap();
        assert_err!(place.store.commit(&mut waiting).await, StoreError::Refused { .. });
        assert_eq!(place.status(id).await, Status::Waiting);
    }
}

/// Evidence that nothing happened does not make it COMPLETED.
#[tokio::test]
async fn the_wrong_evidence_is_refused() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = not_applied(permit, "refused").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
    let claim: AnyExecution = place.store.load(id).await.unwrap();
    let mut claim = machine_tests::forge::claim(&claim);
    let last = claim.journal.last_mut().unwrap();
    let fact = serde_json::json!({
        "kind": "moved", "from": "running", "to": "completed", "trigger": "succeed",
        "payload": { "result": "sent" },
    });
    *last = machine_tests::forge::entry(
        last.number,
        last.at,
        last.actor.as_deref(),
        last.definition,
        &fact,
    );
    "completed".clone_into(&mut claim.record.status);
    claim.record.state = r#"{"result":"sent"}"#.to_owned();
    let forged = machine_tests::forge::cross_execution(claim);
    assert_err!(forged, machine::erased::VerifyError::Rules { .. });
}
