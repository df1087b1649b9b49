//! Answers to gates, cancelled executions and late evidence.

use machine::{
    contract::{
        Action, Answer, AnyExecution, Applied, Call, Evidence, Gate, Planned, decision,
        execution::Status, service_fn,
    },
    effects::Begin,
    store::{CommitError, LoadError, Store},
};
use machine_tests::actors::{ann, ecs_node, graph_runner, tool_node};
use machine_tests::{assert_err, samples::mail};

use super::{assert_indeterminate, commit_is_indeterminate};
use crate::{
    process::alone,
    support::{BEGUN, applied, assert_intact, begun, history, new_file, options, status, stored},
};

/// An action behind a gate that waits for its answer.
async fn asked(store: &Store, to: &str) -> (Gate, Planned<Action>) {
    let (mut gate, mut planned) = mail(to).ask(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned)
}

/// An answer finds out by itself: it is given once, and opens its gate once.
#[test]
fn an_answer_finds_out_by_itself() {
    alone("indeterminate::gates::an_answer_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for took_place in [false, true] {
            for is_yes in [false, true] {
                let (gate, planned) = asked(&store, &format!("{took_place} {is_yes}")).await;
                let id = gate.id();
                commit_is_indeterminate(took_place);
                if is_yes {
                    let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();
                } else {
                    let _ = store.decline(gate, "no", ann()).await.unwrap();
                }
                let any: AnyExecution = store.load(id).await.unwrap();
                assert_eq!(decision(&any).unwrap().approved, is_yes);
                assert_eq!(history(&store, id).await.len(), 6);
                let of_action = history(&store, planned.id()).await;
                // An action that never runs ends with its gate, once.
                let ended = ["closed", "start", "cancel not approved: no"];
                assert_eq!(of_action[1..], ended[..if is_yes { 0 } else { 3 }]);
                let begun = store.begin(planned, tool_node()).await;
                assert_eq!(begun.is_ok(), is_yes);
            }
        }
        assert_intact(&store).await;
    });
}

/// A gate that ends without an answer is retried safely, too.
#[test]
fn a_withdrawal_finds_out_by_itself() {
    alone("indeterminate::gates::a_withdrawal_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let (gate, planned) = asked(&store, to).await;
            let id = gate.id();
            commit_is_indeterminate(took_place);
            let _ = store.withdraw(gate, "not needed", graph_runner()).await.unwrap();
            assert_eq!(status(&store, id).await, Status::Cancelled);
            assert_eq!(history(&store, id).await.len(), 4);
            let ended = ["closed", "start", "cancel not approved: not needed"];
            assert_eq!(history(&store, planned.id()).await[1..], ended);
            assert_err!(store.gate(id).await, LoadError::NotAGate { .. });
        }
        assert_intact(&store).await;
    });
}

/// The answer and the begin behind it, in one batch that is tried again.
#[test]
fn an_indeterminate_answer_in_a_batch_can_be_tried_again() {
    alone(
        "indeterminate::gates::an_indeterminate_answer_in_a_batch_can_be_tried_again",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            for (took_place, to) in [(false, "ann"), (true, "bob")] {
                let (gate, planned) = asked(&store, to).await;
                let (gate_id, id) = (gate.id(), planned.id());
                let mut decide = machine_tests::approval(gate, ann());
                let mut begin = Begin::new(planned, tool_node());
                commit_is_indeterminate(took_place);
                let batch = store.batch().decide(&mut decide).begin(&mut begin);
                assert_indeterminate(batch.write().await);
                store.batch().decide(&mut decide).begin(&mut begin).write().await.unwrap();
                assert!(decide.finish().is_ok());
                let (running, permit) = begin.finish().unwrap();
                assert_eq!(history(&store, id).await[1..], BEGUN);
                assert_eq!(history(&store, gate_id).await.len(), 6);
                let _ = store
                    .settle(running, applied(permit, "sent").await, tool_node())
                    .await
                    .unwrap();
            }
            assert_intact(&store).await;
        },
    );
}

#[test]
fn a_cancellation_finds_out_by_itself() {
    alone("indeterminate::gates::a_cancellation_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let pending = stored(&store, mail(to)).await;
            let id = pending.id();
            commit_is_indeterminate(took_place);
            let _ = store.cancel(pending, "not needed", tool_node()).await.unwrap();
            assert_eq!(history(&store, id).await[1..], ["closed", "start", "cancel not needed"]);
            let new = machine_tests::samples::pending_mail(to);
            let id = new.id();
            commit_is_indeterminate(took_place);
            let _ = store.cancel(new, "not needed", tool_node()).await.unwrap();
            assert_eq!(status(&store, id).await, Status::Cancelled);
        }
        assert_intact(&store).await;
    });
}

/// Evidence that is late, and whose first write has no answer, is there once.
#[test]
fn late_evidence_finds_out_by_itself() {
    alone("indeterminate::gates::late_evidence_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let (running, permit) = begun(&store, mail(to)).await;
            let id = running.id();
            // It is fenced during its call.
            let fencing = store.clone();
            let service = service_fn(move |_call: &Call<Action>| {
                let store = fencing.clone();
                Box::pin(async move {
                    let _ = store.fence(id, "no answer", graph_runner()).await?;
                    let answer: Answer = Ok(Applied::new("sent"));
                    answer
                })
            });
            let outcome = permit.call(service).await;
            assert_eq!(outcome.evidence(), &Evidence::Applied("sent".to_owned()));
            // The write of the outcome conflicts; the next one is that of the late evidence.
            commit_is_indeterminate(took_place);
            let refused = store.settle(running, outcome, tool_node()).await.unwrap_err();
            let (running, outcome) = refused.machine;
            if !matches!(refused.reason, CommitError::Fenced { .. }) {
                assert_err!(Err::<(), _>(refused.reason), CommitError::Unsettled { .. });
                let again = store.settle(running, outcome, tool_node()).await.unwrap_err();
                assert_err!(Err::<(), _>(again.reason), CommitError::Fenced { .. });
            }
            let found = history(&store, id).await;
            let late = found.iter().filter(|entry| *entry == "applied sent").count();
            assert_eq!(late, 1, "{found:?}");
            let settled = store.recover().await.unwrap().settled;
            assert!(matches!(&settled[..], [AnyExecution::Completed(done)] if done.id() == id));
        }
        assert_intact(&store).await;
    });
}
