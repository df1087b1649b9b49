//! A fenced worker comes back (DESIGN 4: fencing, late evidence).

use machine::{
    actor::{GraphRunner, ToolNode},
    clock,
    contract::{AnyExecution, execution::Status},
    journal::{Evidence, Fact},
    store::StoreError,
    typed::Refused,
    view::late_evidence,
};
use machine_tests::{assert_err, samples::mail};

use crate::support::{Place, applied};

/// Waits until the clock has passed `since`.
fn pass(since: i64) {
    while clock::now() <= since {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// An overdue worker is fenced; its late evidence is kept and shown, but changes no state.
#[tokio::test]
async fn the_evidence_of_an_overdue_worker_is_late() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let id = running.id();
    pass(clock::now());
    let other = place.open_again();
    let found = other.recover().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].execution().journal().epoch(), 1);

    let outcome = applied(permit, "250 queued").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: StoreError::Fenced { id: of }, .. } if *of == id);
    assert_eq!(place.status(id).await, Status::Waiting);

    let doubt = place.store.in_doubt(id).await.unwrap();
    let late = late_evidence(doubt.execution());
    let late: Vec<_> = late.into_iter().map(|late| late.evidence).collect();
    assert_eq!(late, [Evidence::Applied("250 queued".to_owned())]);

    // The person sees it and confirms; a machine loaded before the late evidence conflicts.
    let stale = found.into_iter().next().unwrap();
    let refused = place.store.confirm_not_applied(stale, "nothing there", &GraphRunner).await;
    assert_err!(refused, StoreError::Conflict { .. });
    let _ = place.store.confirm_applied(doubt, "250 queued", &GraphRunner).await.unwrap();
}

/// Late evidence after a person's answer is kept and changes nothing.
#[tokio::test]
async fn evidence_after_the_answer_changes_nothing() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let id = running.id();
    pass(clock::now());
    let doubt = place.store.recover().await.unwrap().pop().unwrap();
    let _ = place.store.confirm_not_applied(doubt, "nothing there", &GraphRunner).await.unwrap();

    let outcome = applied(permit, "250 queued").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: StoreError::Fenced { .. }, .. });
    let after: AnyExecution = place.store.load(id).await.unwrap();
    assert_eq!(after.status(), Status::Failed);
    let last = &after.journal().entries().last().unwrap().fact;
    assert!(matches!(last, Fact::Evidence { late: true, epoch: 0, .. }), "{last:?}");
}

/// A fenced worker cannot commit its machine in another way.
#[tokio::test]
async fn a_fenced_worker_cannot_commit() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    pass(clock::now());
    assert_eq!(place.store.recover().await.unwrap().len(), 1);
    let outcome = applied(permit, "250 queued").await;
    let Err(Refused { machine: (running, _outcome), .. }) =
        place.store.settle(running, outcome, &ToolNode).await
    else {
        panic!("it was fenced");
    };
    let mut forged = running.suspend("later".to_owned(), &ToolNode);
    assert_err!(place.store.commit(&mut forged).await, StoreError::Refused { .. });
}
