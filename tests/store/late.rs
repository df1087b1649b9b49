//! A fenced worker comes back (DESIGN 4: fencing, late evidence).

use machine::{
    actor::{GraphRunner, ToolNode},
    clock,
    contract::{AnyExecution, CallFact, Evidence, execution::Status},
    store::CommitError,
    typed::Refused,
    view::late_evidence,
};
use machine_tests::{assert_err, samples::mail};

use crate::support::{Place, applied, on_both, recovered};

on_both! {
    the_evidence_of_an_overdue_worker_is_late,
    evidence_after_the_answer_changes_nothing,
    a_fenced_worker_cannot_commit,
}

/// Waits until the clock has passed `since`.
fn pass(since: i64) {
    while clock::now() <= since {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// An overdue worker is fenced; its late evidence is kept and shown, but changes no state.
async fn the_evidence_of_an_overdue_worker_is_late(place: Place) {
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let id = running.id();
    pass(clock::now());
    let other = place.open_again().await;
    let found = recovered(&other).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].execution().journal().epoch(), 1);

    let outcome = applied(permit, "250 queued").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { id: of }, .. } if *of == id);
    assert_eq!(place.status(id).await, Status::Waiting);

    let doubt = place.store.in_doubt(id).await.unwrap();
    let late = late_evidence(&place.store.history(id).await.unwrap());
    let late: Vec<_> = late.into_iter().map(|late| late.evidence).collect();
    assert_eq!(late, [Evidence::Applied("250 queued".to_owned())]);

    // The person sees it and confirms; a machine loaded before the late evidence conflicts.
    let stale = found.into_iter().next().unwrap();
    let refused = place.store.confirm_not_applied(stale, "nothing there", &GraphRunner).await;
    assert_err!(refused, Refused { reason: CommitError::Conflict { .. }, .. });
    let _ = place.store.confirm_applied(doubt, "250 queued", &GraphRunner).await.unwrap();
}

/// Late evidence after a person's answer is kept and changes nothing.
async fn evidence_after_the_answer_changes_nothing(place: Place) {
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let id = running.id();
    pass(clock::now());
    let doubt = place.recovered().await.pop().unwrap();
    let _ = place.store.confirm_not_applied(doubt, "nothing there", &GraphRunner).await.unwrap();

    let outcome = applied(permit, "250 queued").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
    let after: AnyExecution = place.store.load(id).await.unwrap();
    assert_eq!(after.status(), Status::Failed);
    let last = CallFact::of(place.entries(id).await.last().unwrap());
    assert!(matches!(last, Some(CallFact::Evidence { late: true, epoch: 0, .. })), "{last:?}");
}

/// A fenced worker cannot commit its machine in another way.
async fn a_fenced_worker_cannot_commit(place: Place) {
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    pass(clock::now());
    assert_eq!(place.recovered().await.len(), 1);
    let outcome = applied(permit, "250 queued").await;
    let Err(Refused { machine: (running, _outcome), .. }) =
        place.store.settle(running, outcome, &ToolNode).await
    else {
        panic!("it was fenced");
    };
    let mut forged = running.suspend("later".to_owned(), &ToolNode);
    assert_err!(place.store.commit(&mut forged).await, CommitError::Refused { .. });
}

/// Late evidence outranks a person's opinion: the execution in doubt stays listed, and cannot be
/// settled as not applied.
#[tokio::test]
async fn a_late_receipt_cannot_be_overruled() {
    let place = Place::new().await;
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let id = running.id();
    let outcome = applied(permit, "250 accepted").await;
    while place.store.recover().await.unwrap().in_doubt.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let fenced = place.store.settle(running, outcome, &ToolNode).await.unwrap_err();
    assert_err!(Err::<(), _>(fenced.reason), CommitError::Fenced { id: of } if *of == id);

    let listed = place.store.recover().await.unwrap().in_doubt;
    assert_eq!(listed.len(), 1, "it is still in doubt");
    let doubt = place.store.in_doubt(id).await.unwrap();
    let refused = place.store.confirm_not_applied(doubt, "nothing came", &GraphRunner).await;
    let refused = refused.unwrap_err();
    assert!(refused.reason.to_string().contains("late evidence"), "{}", refused.reason);
    let confirmed = place.store.confirm_applied(refused.machine, "it came", &GraphRunner).await;
    assert_eq!(confirmed.unwrap().state().result, "it came");
}
