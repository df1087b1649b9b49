//! The evidence of a call that contradicts the record of its end.

use machine::{contract::Evidence, stored::Unverified};
use machine_tests::late_evidence;

use crate::view::{prelude::*, situations::answered_late};

/// A mail that a person freed while its worker was alive, and which then answered.
async fn overridden(store: &Store, receipt: &str) -> AnyExecution {
    let id = create(store, &mut pending_mail("bob")).await;
    answered_late(store, id, true, done(receipt)).await
}

/// What was exported says so, too.
#[tokio::test]
async fn a_receipt_after_the_end_contradicts_it() {
    let store = Store::memory();
    let execution = overridden(&store, "250 queued").await;
    assert!(matches!(execution, AnyExecution::Failed(_)), "{execution:?}");
    assert_eq!(Label::of(&execution), Label::Contradicted);
    let json = json!(store.export(execution.id()).await.unwrap()).to_string();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    let exported: AnyExecution = claim.verify().unwrap();
    assert_eq!(ConsequenceView::of(&exported), ConsequenceView::of(&execution));
}

/// The late evidence itself is in the history, in full. The views keep its beginning.
#[tokio::test]
async fn late_evidence_is_listed() {
    let (store, long) = (Store::memory(), "x".repeat(1000));
    let execution = overridden(&store, &long).await;
    let history = store.history(execution.id()).await.unwrap();
    let late = late_evidence(&history);
    assert_eq!(late, [Evidence::Applied(long.clone())]);
    let shown = ConsequenceView::of(&execution).result.clone().unwrap();
    assert!(shown.contains(&long[..200]) && !shown.contains(&long[..201]), "{shown}");
}
