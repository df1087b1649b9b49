//! Begin, settle and confirm.

use machine::{
    contract::{Settled, execution::Status},
    effects::{Begin, Settle},
    store::CommitError,
    typed::Refused,
};
use machine_tests::actors::{ann, tool_node};
use machine_tests::{assert_err, samples::mail};

use super::{
    FSYNC, assert_indeterminate, assert_open, commit_fails, commit_is_indeterminate, counting,
};
use crate::{
    process::alone,
    support::{
        BEGUN, applied, assert_intact, begun, history, new_file, not_applied, options, status,
        stored,
    },
};

/// `begin` finds out by itself: one permit, one attempt.
#[test]
fn begin_finds_out_by_itself() {
    alone("indeterminate::executions::begin_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let pending = stored(&store, mail(to)).await;
            let id = pending.id();
            commit_is_indeterminate(took_place);
            let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
            assert_eq!(history(&store, id).await[1..], BEGUN);
            let outcome = applied(permit, "sent").await;
            let _ = store.settle(running, outcome, tool_node()).await.unwrap();
            assert_eq!(status(&store, id).await, Status::Completed);
        }
        assert_intact(&store).await;
    });
}

/// The file is out of reach for longer: the execution comes back, and if it was begun nevertheless,
/// `recover` finds it. It never gets two permits.
#[test]
fn a_begin_of_a_file_out_of_reach_is_found_in_doubt() {
    alone(
        "indeterminate::executions::a_begin_of_a_file_out_of_reach_is_found_in_doubt",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            for (took_place, to) in [(false, "ann"), (true, "bob")] {
                let pending = stored(&store, mail(to)).await;
                let id = pending.id();
                commit_fails(took_place, FSYNC);
                fail::cfg("store-reopen", &format!("return({FSYNC})")).unwrap();
                let Err(Refused { machine: pending, reason }) =
                    store.begin(pending, tool_node()).await
                else {
                    panic!("the file is out of reach");
                };
                assert_err!(Err::<(), _>(reason), CommitError::Unavailable(_));
                fail::remove("store-reopen");
                let again = store.begin(pending, tool_node()).await;
                let doubts = store.recover().await.unwrap().in_doubt;
                if took_place {
                    assert_err!(again, Refused { reason: CommitError::Conflict { .. }, .. });
                    assert_eq!(doubts.len(), 1);
                    assert_eq!(doubts[0].execution().id(), id);
                } else {
                    assert_eq!(doubts.len(), 0);
                    let (running, permit) = again.unwrap();
                    let _ = store
                        .settle(running, applied(permit, "sent").await, tool_node())
                        .await
                        .unwrap();
                }
            }
            assert_intact(&store).await;
        },
    );
}

/// Begins as a part of a batch.
#[test]
fn an_indeterminate_begin_in_a_batch_can_be_tried_again() {
    alone(
        "indeterminate::executions::an_indeterminate_begin_in_a_batch_can_be_tried_again",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            for (took_place, to) in [(false, "ann"), (true, "bob")] {
                let pending = stored(&store, mail(to)).await;
                let id = pending.id();
                let mut order = counting(&store).await.add("two".to_owned());
                let mut begin = Begin::new(pending.into(), tool_node());
                commit_is_indeterminate(took_place);
                let batch = store.batch().commit(&mut order).begin(&mut begin);
                assert_indeterminate(batch.write().await);
                store.batch().commit(&mut order).begin(&mut begin).write().await.unwrap();
                let (_running, permit) = begin.finish().unwrap();
                assert!(permit.token().sequence() > 0);
                assert_eq!(history(&store, id).await[1..], BEGUN);
                assert_eq!(history(&store, order.id()).await, ["created", "add one", "add two"]);
            }
            assert_intact(&store).await;
        },
    );
}

/// `settle` finds out by itself, and tells what it did.
#[test]
fn settle_finds_out_by_itself() {
    alone("indeterminate::executions::settle_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let (running, permit) = begun(&store, mail(to)).await;
            let id = running.id();
            let outcome = applied(permit, "sent").await;
            commit_is_indeterminate(took_place);
            let settled = store.settle(running, outcome, tool_node()).await.unwrap();
            assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
            assert_eq!(history(&store, id).await[4..], ["applied sent", "succeed sent"]);
        }
        assert_intact(&store).await;
    });
}

/// The file is out of reach for longer: the receipt comes back, and settling it later succeeds.
#[test]
fn a_receipt_survives_a_file_out_of_reach() {
    alone("indeterminate::executions::a_receipt_survives_a_file_out_of_reach", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let (running, permit) = begun(&store, mail(to)).await;
            let id = running.id();
            let outcome = applied(permit, "sent").await;
            commit_fails(took_place, FSYNC);
            fail::cfg("store-reopen", &format!("return({FSYNC})")).unwrap();
            let Err(Refused { machine: (running, outcome), reason }) =
                store.settle(running, outcome, tool_node()).await
            else {
                panic!("the file is out of reach");
            };
            assert_err!(Err::<(), _>(reason), CommitError::Unsettled { .. });
            fail::remove("store-reopen");
            let settled = store.settle(running, outcome, tool_node()).await.unwrap();
            assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
            assert_eq!(history(&store, id).await[4..], ["applied sent", "succeed sent"]);
        }
        assert_intact(&store).await;
    });
}

/// Settles as a part of a batch.
#[test]
fn an_indeterminate_settle_in_a_batch_can_be_tried_again() {
    alone(
        "indeterminate::executions::an_indeterminate_settle_in_a_batch_can_be_tried_again",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            for (took_place, to) in [(false, "ann"), (true, "bob")] {
                let (running, permit) = begun(&store, mail(to)).await;
                let id = running.id();
                let mut order = counting(&store).await.add("two".to_owned());
                let mut settle = Settle::new(running, not_applied(permit, "no").await, tool_node());
                commit_is_indeterminate(took_place);
                let batch = store.batch().commit(&mut order).settle(&mut settle);
                assert_indeterminate(batch.write().await);
                store.batch().commit(&mut order).settle(&mut settle).write().await.unwrap();
                assert!(matches!(settle.finish(), Ok(Settled::Failed(_))));
                assert_eq!(history(&store, id).await[4..], ["not applied no", "fail no"]);
                assert_eq!(history(&store, order.id()).await, ["created", "add one", "add two"]);
            }
            assert_intact(&store).await;
        },
    );
}

/// A confirmation finds out by itself.
#[test]
fn a_confirmation_finds_out_by_itself() {
    alone("indeterminate::executions::a_confirmation_finds_out_by_itself", async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            let (running, permit) = begun(&store, mail(to)).await;
            let id = running.id();
            drop((running, permit));
            let doubt = store.recover().await.unwrap().in_doubt.remove(0);
            commit_is_indeterminate(took_place);
            let _ = store.confirm_applied(doubt, "seen", ann()).await.unwrap();
            assert_eq!(status(&store, id).await, Status::Completed);
            assert_eq!(
                history(&store, id).await[8..],
                ["confirmed applied seen", "resume", "succeed seen"]
            );
        }
        assert_intact(&store).await;
    });
}

/// After an indeterminate try, another error of a later try does not say that nothing was written.
#[test]
fn a_later_error_does_not_hide_an_indeterminate_one() {
    alone(
        "indeterminate::executions::a_later_error_does_not_hide_an_indeterminate_one",
        async || {
            let (_folder, file) = new_file();
            let store = options().sqlite(&file).await.unwrap();
            let out_of_reach = || {
                commit_fails(true, FSYNC);
                fail::cfg("store-reopen", &format!("return({FSYNC})")).unwrap();
            };
            let pending = stored(&store, mail("ann")).await;
            out_of_reach();
            let Err(Refused { reason, .. }) = store.begin(pending, tool_node()).await else {
                panic!("the file is out of reach");
            };
            assert_open(&reason);
            fail::remove("store-reopen");

            let doubt = store.recover().await.unwrap().in_doubt.remove(0);
            out_of_reach();
            let Err(Refused { reason, .. }) = store.confirm_applied(doubt, "seen", ann()).await
            else {
                panic!("the file is out of reach");
            };
            assert_open(&reason);
            fail::remove("store-reopen");

            let (running, permit) = begun(&store, mail("bob")).await;
            let outcome = applied(permit, "sent").await;
            out_of_reach();
            let Err(Refused { reason, .. }) = store.settle(running, outcome, tool_node()).await
            else {
                panic!("the file is out of reach");
            };
            assert_err!(Err::<(), _>(reason), CommitError::Unsettled { source, .. }
            if matches!(&**source, CommitError::Unavailable(error) if error.is_indeterminate()));
        },
    );
}
