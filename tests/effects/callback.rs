//! A service that accepts a call and reports its outcome later, while processes are killed: what it
//! reports settles the execution in any other process.

use std::path::PathBuf;

use machine::{
    contract::{CallbackToken, Report},
    effects::Reported,
};
use machine_tests::cluster::{Cluster, Deploy, Live, Request, accepted, deploy, live, performed};
use machine_tests::process::{Process, orders, say, wait};
use serde::{Deserialize, Serialize};

use crate::effects::{
    prelude::*,
    support::{loaded, stored},
};

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    id: Id,
    /// The worker is stopped while the service answers.
    held: bool,
}

/// A process whose service was called, with the token.
async fn called(place: &Place, held: bool) -> (Process, Request) {
    let id = stored::<Deploy>(&place.store, deploy(17)).await.id();
    let orders = Orders { file: place.file(), id, held };
    let mut worker = Process::start("effects::callback::deploys", &orders);
    let token = CallbackToken::new(worker.hear::<String>());
    if !held {
        assert_eq!(worker.hear::<String>(), "accepted");
    }
    (worker, Request { id, path: String::new(), token })
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn deploys() {
    let Orders { file, id, held } = orders();
    let store = Store::sqlite(file).await.unwrap();
    let planned: Planned<Deploy> = loaded(&store, id).await;
    let cluster = if held { Cluster::held() } else { Cluster::default() };
    let tells = async {
        say(&cluster.called().await.token.as_str());
    };
    let (settled, ()) = tokio::join!(store.perform(planned, cluster.clone(), tool_node()), tells);
    assert_is!(settled.unwrap(), Settled::Accepted(_));
    say(&"accepted");
    tokio::task::spawn_blocking(wait).await.unwrap();
}

async fn report(store: &Store, call: &Request, report: Report<Live>) -> Reported {
    store.report::<Deploy>(call.id, report, &call.token).await.unwrap()
}

/// A report, and how it settles the execution.
fn reports() -> [(Report<Live>, Status); 2] {
    let refused = Report::NotApplied("quota exceeded".to_owned());
    [(Report::Applied(live(17)), Status::Completed), (refused, Status::Failed)]
}

/// The worker ends after it has recorded that the service accepted the call.
#[tokio::test]
async fn a_killed_worker_leaves_the_wait_as_it_is() {
    for (what, status) in reports() {
        let place = Place::new().await;
        let (worker, call) = called(&place, false).await;
        worker.kill();
        assert_eq!(place.recovered().await.len(), 0);
        assert_eq!(place.label(call.id).await, Label::Waiting);
        assert_is!(report(&place.store, &call, what).await, Reported::Settled(_));
        assert_eq!(place.status(call.id).await, status);
        place.assert_intact().await;
    }
}

/// The worker ends after the service has accepted the call, and before it could record that. The
/// report comes before or after its end, or after `recover` has found that.
#[tokio::test]
async fn a_report_is_not_lost_with_the_answer() {
    for (when, (what, status)) in (0..3).flat_map(|when| reports().map(|report| (when, report))) {
        let place = Place::new().await;
        let (worker, call) = called(&place, true).await;
        if when == 0 {
            drop(report(&place.store, &call, what.clone()).await);
        }
        worker.kill();
        if when == 2 {
            let _ = place.doubt().await;
        }
        if when > 0 {
            drop(report(&place.store, &call, what.clone()).await);
        }
        drop(place.store.recover().await.unwrap());
        assert_eq!(place.status(call.id).await, status, "{when}");
        assert_is!(report(&place.store, &call, what).await, Reported::Known(_));
        // A free key is free for another attempt.
        if status == Status::Failed {
            let settled = performed(&place.store, 17, &Cluster::default()).await;
            assert_is!(settled, Settled::Accepted(_));
        }
        place.assert_intact().await;
    }
}

/// Two different reports at once, through two stores: one settles it, and the other one is
/// evidence.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_reports_one_wins() {
    for _ in 0..8 {
        let place = Place::new().await;
        let call = accepted(&place.store, 17).await;
        let mut taken = Vec::new();
        for (what, _) in reports() {
            let (store, call) = (place.open_again().await, call.clone());
            taken.push(tokio::spawn(async move { report(&store, &call, what).await }));
        }
        let mut settled = Vec::new();
        for one in taken {
            settled.push(matches!(one.await.unwrap(), Reported::Settled(_)));
        }
        won_by_one(&place, call.id, &settled).await;
    }
}

/// One report has settled the execution, and both are recorded.
async fn won_by_one(place: &Place, id: Id, settled: &[bool]) {
    assert_ne!(settled[0], settled[1]);
    let late = |fact: &CallFact| match fact {
        CallFact::Evidence { late, .. } => Some(*late),
        _ => None,
    };
    let late: Vec<bool> = place.facts(id).await.iter().filter_map(late).collect();
    assert_eq!(late, [false, true]);
    let expected = if settled[0] { Label::Success } else { Label::Contradicted };
    assert_eq!(place.label(id).await, expected);
    place.assert_intact().await;
}
