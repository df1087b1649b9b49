//! When a key is held, and when it is released (EX-5).

use machine::{
    actor::{GraphRunner, ReasoningNode, ToolNode},
    contract::{AnyExecution, Contract, Settled, execution::Status},
    store::StoreError,
};
use machine_tests::{assert_err, forge, samples::mail};

use crate::support::{Place, not_applied};

async fn failed(
    place: &Place,
) -> machine::contract::Execution<machine::contract::execution::Failed> {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = not_applied(permit, "SMTP connection refused").await;
    match place.store.settle(running, outcome, &ToolNode).await.unwrap() {
        Settled::Failed(failed) => failed,
        other => panic!("expected FAILED, found {other:?}"),
    }
}

/// FAILED releases the key: the retry is a new execution with the same key, the old one stays.
#[tokio::test]
async fn a_failure_frees_the_key() {
    let place = Place::new();
    let failed = failed(&place).await;
    let retry = Contract::retry(&failed, &ReasoningNode);
    assert_eq!(retry.idempotency_key(), failed.context().idempotency_key());
    assert_eq!(retry.retry_of(), Some(failed.id()));

    let done = place.done(retry).await;
    assert_ne!(done.id(), failed.id());
    assert_eq!(place.status(failed.id()).await, Status::Failed);
}

/// So does any other contract for the same action.
#[tokio::test]
async fn a_new_contract_may_take_a_free_key() {
    let place = Place::new();
    let failed = failed(&place).await;
    let done = place.done(mail("bob")).await;
    assert_eq!(done.context().idempotency_key(), failed.context().idempotency_key());
}

/// REJECTED and CANCELLED release the key, once there is evidence that nothing happened.
#[tokio::test]
async fn rejected_and_cancelled_free_the_key() {
    for (trigger, end) in [("reject", "rejected"), ("cancel", "cancelled")] {
        let place = Place::new();
        // The library reaches these states only after evidence, but a journal can contain them.
        let mut claim = forge::claim(&failed(&place).await);
        let last = claim.journal.last_mut().unwrap();
        let fact = serde_json::json!({
            "kind": "moved", "from": "running", "to": end, "trigger": trigger,
            "payload": { "reason": "no" },
        });
        *last = forge::entry(last.number, last.at, last.actor.as_deref(), last.definition, &fact);
        end.clone_into(&mut claim.record.status);
        claim.record.state = r#"{"reason":"no"}"#.to_owned();
        claim.record.version = 0;
        let mut ended = forge::cross_execution(claim).unwrap();

        let elsewhere = Place::new();
        elsewhere.store.create(&mut ended).await.unwrap();
        assert_eq!(elsewhere.status(ended.id()).await.as_str(), end);
        let _ = elsewhere.done(mail("bob")).await;
    }
}

/// The key stays held while in doubt, and after the action was confirmed as applied.
#[tokio::test]
async fn doubt_keeps_the_key() {
    let place = Place::new();
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.store.recover().await.unwrap().pop().unwrap();
    let second = place.stored(mail("bob")).await;
    let id = second.id();
    let begun = place.store.begin(second, &ToolNode).await;
    assert_err!(begun, StoreError::KeyHeld { by } if *by == running.id());

    let _ = place.store.confirm_applied(doubt, "it is in their inbox", &GraphRunner).await.unwrap();
    let begun = place.store.begin(place.pending(id).await, &ToolNode).await;
    assert_err!(begun, StoreError::AlreadyDone { by } if *by == running.id());
}

/// A row with a key that does not belong to its contract fails verification, and no action runs
/// under that key until someone repairs it.
#[tokio::test]
async fn an_edited_key_opens_nothing() {
    let place = Place::new();
    let first = place.stored(mail("ann")).await;
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let sql = "UPDATE instance SET key = ?2 WHERE id = ?1";
    place.raw().execute(sql, [first.id().to_string(), key]).unwrap();

    let mut second = machine::contract::Execution::new(mail("bob"));
    let refused = place.store.create(&mut second).await;
    assert_err!(refused, StoreError::Unreadable(_));
    assert!(matches!(AnyExecution::from(second), AnyExecution::Pending(_)));
}
