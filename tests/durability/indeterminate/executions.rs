//! Begin, settle and confirm.

use machine::{
    contract::{Settled, execution::Status},
    effects::EffectError,
    store::CommitError,
    typed::Refused,
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::mail,
};

use super::{
    assert_open, commit_is_indeterminate, either_way, file_is_out_of_reach, is_back, on_a_file,
};
use crate::support::{BEGUN, applied, begun, history, status, stored};

/// One permit, one attempt.
#[test]
fn an_indeterminate_begin_is_resolved() {
    either_way("executions::an_indeterminate_begin_is_resolved", async |store, took_place, to| {
        let pending = stored(store, mail(to)).await;
        let id = pending.id();
        commit_is_indeterminate(took_place);
        let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
        assert_eq!(history(store, id).await[1..], BEGUN);
        let outcome = applied(permit, "sent").await;
        let _ = store.settle(running, outcome, tool_node()).await.unwrap();
        assert_eq!(status(store, id).await, Status::Completed);
    });
}

/// The file is out of reach for longer: the execution comes back, and if it was begun nevertheless,
/// `recover` finds it. It never gets two permits.
#[test]
fn a_begin_of_a_file_out_of_reach_is_found_in_doubt() {
    let name = "executions::a_begin_of_a_file_out_of_reach_is_found_in_doubt";
    either_way(name, async |store, took_place, to| {
        let pending = stored(store, mail(to)).await;
        let id = pending.id();
        file_is_out_of_reach(took_place);
        let refused = store.begin(pending, tool_node()).await.map(drop).unwrap_err();
        assert_err!(Err::<(), _>(refused.reason), EffectError::Unavailable(_));
        is_back();
        let again = store.begin(refused.machine, tool_node()).await;
        let doubts = store.recover().await.unwrap().in_doubt;
        if took_place {
            let conflict = again.map(drop).map_err(|refused| refused.reason);
            assert_err!(conflict, EffectError::Commit(CommitError::Conflict { .. }));
            assert_eq!(doubts.len(), 1);
            assert_eq!(doubts[0].id(), id);
        } else {
            assert_eq!(doubts.len(), 0);
            let (running, permit) = again.unwrap();
            let outcome = applied(permit, "sent").await;
            let _ = store.settle(running, outcome, tool_node()).await.unwrap();
        }
    });
}

/// An indeterminate `settle` is resolved, and reports its result. If the file is out of reach for
/// longer, the receipt comes back, and settling it later succeeds.
#[test]
fn an_indeterminate_settle_is_resolved() {
    either_way("executions::an_indeterminate_settle_is_resolved", async |store, took_place, to| {
        for is_longer in [false, true] {
            let (running, permit) = begun(store, mail(&format!("{to} {is_longer}"))).await;
            let id = running.id();
            let outcome = applied(permit, "sent").await;
            let settled = if is_longer {
                file_is_out_of_reach(took_place);
                let refused = store.settle(running, outcome, tool_node()).await.unwrap_err();
                assert_err!(Err::<(), _>(refused.reason), EffectError::Unsettled { .. });
                is_back();
                let (running, outcome) = refused.machine;
                store.settle(running, outcome, tool_node()).await.unwrap()
            } else {
                commit_is_indeterminate(took_place);
                store.settle(running, outcome, tool_node()).await.unwrap()
            };
            assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
            assert_eq!(history(store, id).await[4..], ["applied sent", "succeed sent"]);
        }
    });
}

#[test]
fn an_indeterminate_confirmation_is_resolved() {
    let name = "executions::an_indeterminate_confirmation_is_resolved";
    either_way(name, async |store, took_place, to| {
        let (running, permit) = begun(store, mail(to)).await;
        let id = running.id();
        drop((running, permit));
        let doubt = store.recover().await.unwrap().in_doubt.remove(0);
        commit_is_indeterminate(took_place);
        let _ = store.confirm_applied(doubt, "seen", ann()).await.unwrap();
        assert_eq!(status(store, id).await, Status::Completed);
        let confirmed = ["confirmed applied seen", "resume", "succeed seen"];
        assert_eq!(history(store, id).await[8..], confirmed);
    });
}

/// After an indeterminate try, another error of a later try does not say that nothing was written.
#[test]
fn a_later_error_does_not_hide_an_indeterminate_one() {
    on_a_file("executions::a_later_error_does_not_hide_an_indeterminate_one", async |store| {
        let pending = stored(store, mail("ann")).await;
        file_is_out_of_reach(true);
        assert_open(&store.begin(pending, tool_node()).await.map(drop).unwrap_err().reason);
        is_back();

        let doubt = store.recover().await.unwrap().in_doubt.remove(0);
        file_is_out_of_reach(true);
        assert_open(&store.confirm_applied(doubt, "seen", ann()).await.unwrap_err().reason);
        is_back();

        let (running, permit) = begun(store, mail("bob")).await;
        let outcome = applied(permit, "sent").await;
        file_is_out_of_reach(true);
        let refused = store.settle(running, outcome, tool_node()).await.unwrap_err();
        is_back();
        let Refused { reason: EffectError::Unsettled { source, .. }, .. } = refused else {
            panic!("{refused:?}")
        };
        assert_open(&source);
    });
}
