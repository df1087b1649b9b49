//! Answers to gates, cancelled executions and late evidence.

use machine::{
    contract::{
        Action, AnyExecution, Applied, Call, Evidence, Gate, Planned, decision, execution::Status,
        service_fn,
    },
    effects::{EffectError, StateError},
    store::Store,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    assert_err,
    samples::{mail, pending_mail},
};

use super::{commit_is_indeterminate, either_way};
use crate::support::{begun, history, status, stored};

/// An action behind a gate that waits for its answer.
pub(super) async fn asked(store: &Store, to: &str) -> (Gate, Planned<Action>) {
    let (mut gate, mut planned) = mail(to).ask(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned)
}

/// An indeterminate answer is resolved: it is given once, and opens its gate once.
#[test]
fn an_indeterminate_answer_is_resolved() {
    either_way("gates::an_indeterminate_answer_is_resolved", async |store, took_place, to| {
        for is_yes in [false, true] {
            let (gate, planned) = asked(store, &format!("{to} {is_yes}")).await;
            let id = gate.id();
            commit_is_indeterminate(took_place);
            if is_yes {
                let _ = machine_tests::approve(store, gate, ann()).await.unwrap();
            } else {
                let _ = store.decline(gate, "no", ann()).await.unwrap();
            }
            let any: AnyExecution = store.load(id).await.unwrap();
            assert_eq!(decision(&any).unwrap().approved, is_yes);
            assert_eq!(history(store, id).await.len(), 6);
            let of_action = history(store, planned.id()).await;
            // An action that never runs ends with its gate, once.
            let ended = ["closed", "start", "cancel not approved: no"];
            assert_eq!(of_action[1..], ended[..if is_yes { 0 } else { 3 }]);
            let begun = store.begin(planned, tool_node()).await;
            assert_eq!(begun.is_ok(), is_yes);
        }
    });
}

/// A gate that ends without an answer is retried safely, too.
#[test]
fn an_indeterminate_withdrawal_is_resolved() {
    either_way("gates::an_indeterminate_withdrawal_is_resolved", async |store, took_place, to| {
        let (gate, planned) = asked(store, to).await;
        let id = gate.id();
        commit_is_indeterminate(took_place);
        let _ = store.withdraw(gate, "not needed", graph_runner()).await.unwrap();
        assert_eq!(status(store, id).await, Status::Cancelled);
        assert_eq!(history(store, id).await.len(), 4);
        let ended = ["closed", "start", "cancel not approved: not needed"];
        assert_eq!(history(store, planned.id()).await[1..], ended);
        assert_err!(store.gate(id).await, StateError::NotAGate { .. });
    });
}

/// An execution that is stored, and one that is not.
#[test]
fn an_indeterminate_cancellation_is_resolved() {
    either_way(
        "gates::an_indeterminate_cancellation_is_resolved",
        async |store, took_place, to| {
            for pending in [stored(store, mail(to)).await, pending_mail(to)] {
                let id = pending.id();
                commit_is_indeterminate(took_place);
                let _ = store.cancel(pending, "not needed", tool_node()).await.unwrap();
                assert_eq!(history(store, id).await[1..], ["closed", "start", "cancel not needed"]);
                assert_eq!(status(store, id).await, Status::Cancelled);
            }
        },
    );
}

/// Evidence that is late, and whose first write has no answer, is there once.
#[test]
fn indeterminate_late_evidence_is_resolved() {
    either_way("gates::indeterminate_late_evidence_is_resolved", async |store, took_place, to| {
        let (running, permit) = begun(store, mail(to)).await;
        let id = running.id();
        // It is fenced during its call.
        let fencing = store.clone();
        let service = service_fn(move |_call: &Call<Action>| {
            let store = fencing.clone();
            Box::pin(async move {
                let _ = store.fence(id, "no answer", graph_runner()).await?;
                Ok(Applied::new("sent"))
            })
        });
        let outcome = permit.call(service).await;
        assert_eq!(outcome.evidence(), &Evidence::Applied("sent".to_owned()));
        // The write of the outcome conflicts; the next one is that of the late evidence.
        commit_is_indeterminate(took_place);
        let refused = store.settle(running, outcome, tool_node()).await.unwrap_err();
        let (running, outcome) = refused.machine;
        if !matches!(refused.reason, EffectError::Fenced { .. }) {
            assert_err!(Err::<(), _>(refused.reason), EffectError::Unsettled { .. });
            let again = store.settle(running, outcome, tool_node()).await.unwrap_err();
            assert_err!(Err::<(), _>(again.reason), EffectError::Fenced { .. });
        }
        let found = history(store, id).await;
        let late = found.iter().filter(|entry| *entry == "applied sent").count();
        assert_eq!(late, 1, "{found:?}");
        let settled = store.recover().await.unwrap().settled;
        assert!(matches!(&settled[..], [AnyExecution::Completed(done)] if done.id() == id));
    });
}
