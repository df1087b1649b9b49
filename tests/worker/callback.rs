//! Calls that their service has accepted: no worker does anything about them until the limit (EX-8).

use std::time::Duration;

use machine::{
    contract::{AnyExecution, Applied, NotDone, Planned, Report, execution::Status},
    effects::Reported,
    store::Store,
    view::Label,
};
use machine_tests::cluster::{Cluster, Deploy, LIMIT, Live, Request, deploy, live};

use crate::worker::support::{Hand, create, settle, timed, worker};

async fn runs(store: &Store, cluster: &Cluster) {
    settle(worker(store).tool::<Deploy>(cluster.clone())).await;
}

/// A worker has called the service, which has accepted the call.
async fn accepted(store: &Store) -> Request {
    let planned = Planned::<Deploy>::new(deploy(17)).unwrap();
    create(store, planned.into_execution()).await;
    let cluster = Cluster::default();
    runs(store, &cluster).await;
    cluster.called().await
}

async fn label(store: &Store, call: &Request) -> Label {
    Label::of(&store.load::<AnyExecution>(call.id).await.unwrap())
}

async fn report(store: &Store, call: &Request, report: Report<Live>) -> Reported {
    store.report::<Deploy>(call.id, report, &call.token).await.unwrap()
}

/// Another worker leaves it alone, and the report settles it.
#[tokio::test]
async fn nothing_happens_before_the_report() {
    timed(async |store: Store, hand: Hand| {
        let call = accepted(&store).await;
        let version = async || store.history(call.id).await.unwrap().entries.len();
        let before = version().await;
        for time in [0, 1, LIMIT.as_millis() / 2] {
            hand.advance(Duration::from_millis(u64::try_from(time).unwrap()));
            let other = Cluster::default();
            runs(&store, &other).await;
            assert!(other.requests().is_empty());
        }
        assert_eq!(version().await, before);
        assert_eq!(label(&store, &call).await, Label::Waiting);
        let taken = report(&store, &call, Report::Applied(live(17))).await;
        assert!(matches!(taken, Reported::Settled(AnyExecution::Completed(_))), "{taken:?}");
    })
    .await;
}

/// From the first moment after the limit it is in doubt; the report settles that.
#[tokio::test]
async fn after_the_limit_it_is_in_doubt() {
    timed(async |store: Store, hand: Hand| {
        let call = accepted(&store).await;
        hand.advance(LIMIT);
        runs(&store, &Cluster::default()).await;
        assert_eq!(label(&store, &call).await, Label::Waiting);
        hand.advance(Duration::from_millis(1));
        runs(&store, &Cluster::default()).await;
        assert_eq!(label(&store, &call).await, Label::InDoubt);
        let taken = report(&store, &call, Report::NotApplied("full".to_owned())).await;
        assert!(matches!(taken, Reported::Settled(AnyExecution::Failed(_))), "{taken:?}");
    })
    .await;
}

/// After the limit the service is asked as about any doubt: "found" counts at once, and "not found" after the
/// settling time.
#[tokio::test]
async fn the_service_is_asked_after_the_limit() {
    for (found, [early, late]) in [
        (Ok(Applied::new(live(17))), [Status::Completed; 2]),
        (Err(NotDone::not_applied("unknown rollout")), [Status::Waiting, Status::Failed]),
    ] {
        timed(async |store: Store, hand: Hand| {
            let call = accepted(&store).await;
            let cluster = Cluster::default();
            cluster.finds(found.clone());
            let status_of = async || store.load::<AnyExecution>(call.id).await.unwrap().status();
            hand.advance(LIMIT + Duration::from_millis(1));
            runs(&store, &cluster).await;
            assert_eq!(status_of().await, early);
            hand.advance(Duration::from_mins(1));
            runs(&store, &cluster).await;
            assert_eq!(status_of().await, late);
            assert!(cluster.requests().is_empty(), "it is not called again");
        })
        .await;
    }
}
