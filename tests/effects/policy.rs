//! A policy may repeat only an action that a person approved and that then failed.

use machine::{
    contract::{Action, AnyExecution, Contract, Execution, Policy, Settled, execution::Failed},
    store::CommitError,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::store::{
    service::{Counting, answers, not_applied, receipt},
    support::{Place, begin, on_both},
};

on_both! {
    a_policy_does_not_run_what_was_declined,
    a_policy_repeats_what_was_approved_and_failed,
    a_policy_does_not_repeat_what_was_approved_and_done,
}

fn policy() -> Policy {
    Policy::new("retry anything", graph_runner()).unwrap()
}

/// It stays behind the gate that was declined. A person can decide otherwise.
async fn a_policy_does_not_run_what_was_declined(place: Place) {
    let (gate, planned) = place.asked(mail("bob")).await;
    let _ = place.store.decline(gate, "never", ann()).await.unwrap();
    let cancelled = place.cancelled(planned.id()).await;

    let again = place.stored(Contract::retry(&cancelled, &policy())).await;
    let server = std::sync::Arc::new(Counting::new(receipt("250 queued")));
    let refused = place.store.perform::<Action>(again, server.clone(), tool_node()).await;
    assert_err!(refused.map_err(|error| error.to_string()), error if error.contains("never runs"));
    assert_eq!(server.calls(), 0);

    let decided = place.stored(Contract::retry(&cancelled, ann())).await;
    let settled = place.store.perform::<Action>(decided, server.clone(), tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Completed(_))), "{settled:?}");
    assert_eq!(server.calls(), 1);
}

async fn failed_after_approval(place: &Place) -> Execution<Failed> {
    let (gate, planned) = place.asked(mail("bob")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let (running, permit) = begin(&place.store, planned.into_execution()).await.unwrap();
    let outcome = not_applied(permit, "connection refused").await;
    match place.store.settle(running, outcome, tool_node()).await.unwrap() {
        Settled::Failed(failed) => failed,
        other => panic!("{other:?}"),
    }
}

/// The journal names the policy, and no person as the approver of the second attempt.
async fn a_policy_repeats_what_was_approved_and_failed(place: Place) {
    let failed = failed_after_approval(&place).await;
    let again = place.stored(Contract::retry(&failed, &policy())).await;
    let id = again.id();
    let settled = place.store.perform::<Action>(again, answers(receipt("250")), tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Completed(_))), "{settled:?}");
    assert!(!place.view(id).await.human_confirmed);
    let first = &place.entries(id).await[0];
    assert_eq!(first.actor.as_deref(), Some("graph_runner"));
    assert_eq!(first.by.as_deref(), Some("retry anything"));
}

/// An approval is for one run, of an idempotent action too.
async fn a_policy_does_not_repeat_what_was_approved_and_done(place: Place) {
    let (gate, planned) = place.asked(read("secret.txt")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let settled = place.store.perform(planned, answers(receipt("42 lines")), tool_node()).await;
    let Ok(Settled::Completed(done)) = settled else { panic!("{settled:?}") };
    let again = place.stored(Contract::retry(&done, &policy())).await;
    let id = again.id();
    assert_err!(begin(&place.store, again).await, CommitError::OtherAction { id: of, .. } if *of == id);
    let any: AnyExecution = place.store.load(id).await.unwrap();
    assert_eq!(any.status().as_str(), "pending");
}
