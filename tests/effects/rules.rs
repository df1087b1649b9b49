//! Refused commits of irreversible executions; the file and the machine stay unchanged.

use machine::{
    contract::{
        AnyExecution, Execution, Settled,
        execution::{Event, Running, Status},
    },
    store::{CommitError, Query},
};
use machine_tests::actors::{ecs_node, graph_runner, tool_node};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};

use crate::store::support::{Place, not_applied, on_both};

on_both! {
    a_plain_start_is_refused,
    a_started_one_is_not_created,
    succeeding_without_evidence_is_refused,
    suspending_with_an_unanswered_permit_is_refused,
    ending_with_an_unanswered_permit_is_refused,
    resuming_what_is_in_doubt_is_refused,
    ending_through_waiting_is_refused,
    the_wrong_evidence_is_refused,
}

/// Moves a running execution by an event, and expects the commit to be refused.
async fn refuse(place: &Place, running: Execution<Running>, event: Event) {
    let id = running.id();
    let before = place.dump().await;
    let mut moved = AnyExecution::from(running).apply(event, tool_node()).unwrap();
    let entries = moved.journal().uncommitted().to_vec();
    let refused = place.store.commit(&mut moved).await;
    assert_err!(refused, CommitError::Refused { id: of, .. } if *of == id);
    assert_eq!(moved.journal().uncommitted(), entries);
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Running);
}

/// EX-5: it can only be started through `begin`.
async fn a_plain_start_is_refused(place: Place) {
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let before = place.dump().await;
    let mut running = pending.start(tool_node());
    let refused = place.store.commit(&mut running).await;
    assert_err!(refused, CommitError::Refused { breach, .. } if breach.to_string().contains("begin"));
    assert_eq!(running.journal().uncommitted().len(), 1);
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Pending);
}

/// One that was started without `begin` cannot be created, whatever state it is in.
async fn a_started_one_is_not_created(place: Place) {
    let mut running = pending_mail("bob").start(ecs_node());
    assert_err!(place.store.create(&mut running).await, CommitError::Refused { .. });
    let mut done = running.succeed("sent".to_owned(), tool_node());
    assert_err!(place.store.create(&mut done).await, CommitError::Refused { .. });
    assert_eq!(place.lines(&Query::new()).await, []);
}

/// COMPLETED needs evidence.
async fn succeeding_without_evidence_is_refused(place: Place) {
    let (running, _permit) = place.begun(mail("bob")).await;
    refuse(&place, running, Event::Succeed { result: "sent".to_owned() }).await;
}

/// It cannot end while its permit is unanswered: that would release the key.
async fn ending_with_an_unanswered_permit_is_refused(place: Place) {
    let no = || "no".to_owned();
    for event in [
        Event::Fail { error: no() },
        Event::Reject { reason: no() },
        Event::Cancel { reason: no() },
    ] {
        let place = place.another().await;
        let (running, _permit) = place.begun(mail("bob")).await;
        refuse(&place, running, event).await;
    }
}

/// It cannot wait either: it would count as in doubt while its worker is alive, and the answer
/// could release its key.
async fn suspending_with_an_unanswered_permit_is_refused(place: Place) {
    let (running, _permit) = place.begun(mail("bob")).await;
    refuse(&place, running, Event::Suspend { prompt: "still there?".to_owned() }).await;
    assert_eq!(place.recovered().await.len(), 0);
}

/// An execution in doubt cannot resume.
async fn resuming_what_is_in_doubt_is_refused(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    assert_eq!(place.recovered().await.len(), 1);
    let mut waiting: AnyExecution = place.store.load(running.id()).await.unwrap();
    waiting.apply_mut(Event::Resume, graph_runner()).unwrap();
    assert_err!(place.store.commit(&mut waiting).await, CommitError::Refused { .. });
    assert_eq!(place.status(running.id()).await, Status::Waiting);
}

/// It cannot end through WAITING either.
async fn ending_through_waiting_is_refused(place: Place) {
    let no = || "no".to_owned();
    for event in [Event::Cancel { reason: no() }, Event::Timeout] {
        let place = place.another().await;
        let (running, permit) = place.begun(mail("bob")).await;
        let id = running.id();
        drop(permit);
        assert_eq!(place.recovered().await.len(), 1);
        let mut waiting: AnyExecution = place.store.load(id).await.unwrap();
        waiting.apply_mut(event, graph_runner()).unwrap();
        assert_err!(place.store.commit(&mut waiting).await, CommitError::Refused { .. });
        assert_eq!(place.status(id).await, Status::Waiting);
    }
}

/// Evidence that nothing happened does not make it COMPLETED.
async fn the_wrong_evidence_is_refused(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = not_applied(permit, "refused").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
    let mut claim = place.store.export(id).await.unwrap();
    let last = claim.journal.last_mut().unwrap();
    let fact = serde_json::json!({
        "moved": {
            "from": "running", "to": "completed", "trigger": "succeed",
            "payload": { "result": "sent" },
        },
    });
    *last = machine_tests::forge::entry(
        last.number,
        last.at,
        last.actor.as_deref(),
        last.definition,
        &fact,
    );
    "completed".clone_into(&mut claim.record.status);
    r#"{"result":"sent"}"#.clone_into(&mut claim.record.state);
    let forged = machine_tests::forge::cross_execution(claim);
    assert_err!(forged, machine::stored::VerifyError::Rules { .. });
}
