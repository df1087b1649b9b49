//! Calls that their service has accepted: no worker does anything about them until the limit
//! (EX-8).

use machine::{contract::Report, effects::Reported, view::Label};
use machine_tests::cluster::{Cluster, Deploy, LIMIT, Live, Request, deploy, live};

use crate::worker::prelude::*;

async fn runs(store: &Store, cluster: &Cluster) {
    settle(worker(store).tool::<Deploy>(cluster.clone())).await;
}

/// A worker has called the service, which has accepted the call.
async fn accepted(store: &Store) -> Request {
    plan::<Deploy>(store, deploy(17)).await;
    let cluster = Cluster::default();
    runs(store, &cluster).await;
    cluster.called().await
}

async fn label(store: &Store, call: &Request) -> Label {
    Label::of(&store.load::<AnyExecution>(call.id).await.unwrap())
}

async fn report(store: &Store, call: &Request, report: Report<Live>) -> String {
    match store.report::<Deploy>(call.id, report, &call.token).await.unwrap() {
        Reported::Settled(execution) => execution.status().to_string(),
        other => panic!("{other:?}"),
    }
}

/// Another worker leaves it alone, and the report settles it.
#[test]
fn an_accepted_call_waits_for_the_report() {
    timed(async |store, hand| {
        let call = accepted(&store).await;
        let before = store.history(call.id).await.unwrap();
        for time in [Duration::ZERO, Duration::from_millis(1), LIMIT / 2] {
            hand.pass(time);
            let other = Cluster::default();
            runs(&store, &other).await;
            assert!(other.requests().is_empty());
        }
        let after = store.history(call.id).await.unwrap();
        assert_eq!(after.entries.len(), before.entries.len());
        assert_eq!(label(&store, &call).await, Label::Waiting);
        assert_eq!(report(&store, &call, Report::Applied(live(17))).await, "completed");
    });
}

/// From the first moment after the limit it is in doubt; the report settles that.
#[test]
fn after_the_limit_it_is_in_doubt() {
    timed(async |store, hand| {
        let call = accepted(&store).await;
        for (time, expected) in
            [(LIMIT, Label::Waiting), (Duration::from_millis(1), Label::InDoubt)]
        {
            hand.pass(time);
            runs(&store, &Cluster::default()).await;
            assert_eq!(label(&store, &call).await, expected);
        }
        assert_eq!(report(&store, &call, Report::NotApplied("full".to_owned())).await, "failed");
    });
}

/// After the limit the service is asked as about any doubt: "found" counts at once, and "not found"
/// after the settling time.
#[test]
fn the_service_is_asked_after_the_limit() {
    for (found, ends) in [
        (Ok(Applied::new(live(17))), ["completed"; 2]),
        (Err(NoReceipt::not_applied("unknown rollout")), ["waiting", "failed"]),
    ] {
        timed(async |store, hand| {
            let call = accepted(&store).await;
            let cluster = Cluster::default();
            cluster.finds(found.clone());
            for (time, end) in
                [LIMIT + Duration::from_millis(1), Duration::from_mins(1)].into_iter().zip(ends)
            {
                hand.pass(time);
                runs(&store, &cluster).await;
                is(&store, call.id, end).await;
            }
            assert!(cluster.requests().is_empty(), "it is not called again");
        });
    }
}
