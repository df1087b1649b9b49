//! When a key is held, and when it is released (EX-5).

use machine::{
    contract::{AnyExecution, Contract, Settled, execution::Status},
    store::{CommitError, LoadError},
    stored::VerifyError,
};
use machine_tests::actors::{ann, tool_node};
use machine_tests::{
    assert_err, forge,
    samples::{mail, pending_mail},
};

use crate::store::support::{Place, begin, not_applied, on_both};

on_both! {
    a_failure_frees_the_key,
    a_new_contract_may_take_a_free_key,
    rejected_and_cancelled_free_the_key,
    doubt_keeps_the_key,
}

async fn failed(
    place: &Place,
) -> machine::contract::Execution<machine::contract::execution::Failed> {
    let (running, permit) = place.begun(mail("bob")).await;
    let outcome = not_applied(permit, "SMTP connection refused").await;
    match place.store.settle(running, outcome, tool_node()).await.unwrap() {
        Settled::Failed(failed) => failed,
        other => panic!("expected FAILED, found {other:?}"),
    }
}

/// FAILED releases the key: the retry is a new execution with the same key, the old one stays.
async fn a_failure_frees_the_key(place: Place) {
    let failed = failed(&place).await;
    let retry = Contract::retry(&failed, ann());
    assert_eq!(retry.idempotency_key(), failed.context().idempotency_key());
    assert_eq!(retry.retry_of(), Some(failed.id()));

    let done = place.done(retry).await;
    assert_ne!(done.id(), failed.id());
    assert_eq!(place.status(failed.id()).await, Status::Failed);
}

/// So does any other contract for the same action.
async fn a_new_contract_may_take_a_free_key(place: Place) {
    let failed = failed(&place).await;
    let done = place.done(mail("bob")).await;
    assert_eq!(done.context().idempotency_key(), failed.context().idempotency_key());
}

/// REJECTED and CANCELLED release the key, once there is evidence that nothing happened.
async fn rejected_and_cancelled_free_the_key(place: Place) {
    for (trigger, end) in [("reject", "rejected"), ("cancel", "cancelled")] {
        // The library reaches these states only after evidence, but a journal can contain them.
        let from = place.another().await;
        let mut claim = from.store.export(failed(&from).await.id()).await.unwrap();
        let last = claim.journal.last_mut().unwrap();
        let fact = serde_json::json!({
            "moved": {
                "from": "running", "to": end, "trigger": trigger, "payload": { "reason": "no" },
            },
        });
        *last = forge::entry(last.number, last.at, last.actor.as_deref(), last.definition, &fact);
        end.clone_into(&mut claim.record.status);
        r#"{"reason":"no"}"#.clone_into(&mut claim.record.state);
        let mut ended = forge::cross_execution(claim).unwrap();

        let elsewhere = place.another().await;
        elsewhere.store.create(&mut ended).await.unwrap();
        assert_eq!(elsewhere.status(ended.id()).await.as_str(), end);
        let _ = elsewhere.done(mail("bob")).await;
    }
}

/// The key stays held while in doubt, and after the action was confirmed as applied.
async fn doubt_keeps_the_key(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    let second = place.stored(mail("bob")).await;
    let id = second.id();
    let begun = begin(&place.store, second).await;
    assert_err!(begun, CommitError::KeyHeld { id: of, by } if *of == id && *by == running.id());

    let _ = place.store.confirm_applied(doubt, "it is in their inbox", ann()).await.unwrap();
    let begun = begin(&place.store, place.pending(id).await).await;
    assert_err!(begun, CommitError::AlreadyDone { id: of, by } if *of == id && *by == running.id());
}

/// A row with a key that does not belong to its contract fails verification. It takes no key: the
/// attempts at a key do, and only this library makes them.
#[tokio::test]
async fn an_edited_key_takes_nothing() {
    let place = Place::new().await;
    let first = place.stored(mail("ann")).await;
    let key = mail("bob").idempotency_key().unwrap().to_string();
    place.edit(&format!("UPDATE instance SET key = '{key}' WHERE id = ?1"), first.id());
    let refused = place.store.load::<AnyExecution>(first.id()).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::History { .. }));
    let _ = place.done(mail("bob")).await;
}

/// Nor does it give one away: the machine that did it still has an attempt.
#[tokio::test]
async fn an_edited_key_frees_nothing() {
    let place = Place::new().await;
    let done = place.done(mail("bob")).await.id();
    for key in ["NULL", "'another'"] {
        place.edit(&format!("UPDATE instance SET key = {key} WHERE id = ?1"), done);
        let mut again = pending_mail("bob");
        let refused = place.store.create(&mut again).await;
        assert_err!(refused, CommitError::AlreadyDone { id, by } if *id == again.id() && *by == done);
    }
}
