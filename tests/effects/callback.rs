//! A service that accepts a call and reports its outcome later, while processes are killed: what it reports
//! settles the execution in any other process (EX-8).

use std::path::{Path, PathBuf};

use machine::{
    Id,
    contract::{
        AnyExecution, CallFact, CallbackToken, Planned, Report, Settled, execution::Status,
    },
    effects::Reported,
    store::Store,
    view::Label,
};
use machine_tests::{
    actors::tool_node,
    cluster::{Cluster, Deploy, Live, Request, accepted, deploy, live, performed},
};
use serde::{Deserialize, Serialize};

use crate::effects::support::{assert_intact, label, loaded, new_store, stored};
use crate::process::{Process, orders, say, wait};

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    id: Id,
    /// The worker is stopped while the service answers.
    held: bool,
}

/// A process whose service was called, with the token.
async fn called(file: &Path, store: &Store, held: bool) -> (Process, Request) {
    let id = stored::<Deploy>(store, deploy(17)).await.id();
    let mut worker =
        Process::start("effects::callback::deploys", &Orders { file: file.to_owned(), id, held });
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
    assert!(matches!(settled.unwrap(), Settled::Accepted(_)));
    say(&"accepted");
    tokio::task::spawn_blocking(wait).await.unwrap();
}

async fn report(store: &Store, call: &Request, report: Report<Live>) -> Reported {
    store.report::<Deploy>(call.id, report, &call.token).await.unwrap()
}

fn refused() -> Report<Live> {
    Report::NotApplied("quota exceeded".to_owned())
}

/// The worker ends after it has recorded that the service accepted the call.
#[tokio::test]
async fn a_killed_worker_leaves_the_wait_as_it_is() {
    for what in [Report::Applied(live(17)), refused()] {
        let (_folder, file, store) = new_store().await;
        let (worker, call) = called(&file, &store, false).await;
        worker.kill();
        let found = store.recover().await.unwrap();
        assert!(found.in_doubt.is_empty() && found.settled.is_empty(), "{found:?}");
        assert_eq!(label(&store, call.id).await, Label::Waiting);
        let taken = report(&store, &call, what).await;
        assert!(matches!(taken, Reported::Settled(_)), "{taken:?}");
        assert_intact(&store).await;
    }
}

/// The worker ends after the service has accepted the call, and before it could record that. The report comes
/// before or after its end, or after `recover` has found that.
#[tokio::test]
async fn a_report_is_not_lost_with_the_answer() {
    for when in 0..3 {
        for (what, status) in
            [(Report::Applied(live(17)), Status::Completed), (refused(), Status::Failed)]
        {
            let (_folder, file, store) = new_store().await;
            let (worker, call) = called(&file, &store, true).await;
            let early =
                if when == 0 { Some(report(&store, &call, what.clone()).await) } else { None };
            worker.kill();
            if when == 2 {
                assert_eq!(store.recover().await.unwrap().in_doubt.len(), 1);
            }
            if early.is_none() {
                drop(report(&store, &call, what.clone()).await);
            }
            drop(store.recover().await.unwrap());
            let ended: AnyExecution = store.load(call.id).await.unwrap();
            assert_eq!(ended.status(), status, "{when}: {early:?}");
            let again = report(&store, &call, what).await;
            assert!(matches!(again, Reported::Known(_)), "{again:?}");
            // A free key is free for another attempt.
            if status == Status::Failed {
                let settled = performed(&store, 17, &Cluster::default()).await;
                assert!(matches!(settled, Settled::Accepted(_)), "{settled:?}");
            }
            assert_intact(&store).await;
        }
    }
}

/// Two different reports at once: one settles it, and the other one is evidence.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_reports_one_wins() {
    for round in 0..8 {
        let (_folder, file, store) = new_store().await;
        let store = if round % 2 == 0 { store } else { Store::memory() };
        let call = accepted(&store, 17).await;
        let other =
            if round % 2 == 0 { Store::sqlite(&file).await.unwrap() } else { store.clone() };
        let one = tokio::spawn({
            let (store, call) = (store.clone(), call.clone());
            async move { report(&store, &call, Report::Applied(live(17))).await }
        });
        let two = tokio::spawn({
            let call = call.clone();
            async move { report(&other, &call, refused()).await }
        });
        let taken = [one.await.unwrap(), two.await.unwrap()];
        won_by_one(&store, call.id, &taken.map(|taken| matches!(taken, Reported::Settled(_))))
            .await;
    }
}

/// Reports from two processes.
#[tokio::test]
async fn of_two_processes_one_wins() {
    for _ in 0..3 {
        let (_folder, file, store) = new_store().await;
        let call = accepted(&store, 17).await;
        let mut reporters = [true, false].map(|applied| {
            let orders = (&file, call.id, call.token.as_str(), applied);
            Process::start("effects::callback::reports", &orders)
        });
        for reporter in &mut reporters {
            assert_eq!(reporter.hear::<String>(), "ready");
        }
        reporters.iter_mut().for_each(Process::go);
        let settled = reporters.each_mut().map(Process::hear::<bool>);
        reporters.into_iter().for_each(Process::join);
        won_by_one(&store, call.id, &settled).await;
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn reports() {
    let (file, id, token, applied): (PathBuf, Id, String, bool) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let call = Request { id, path: String::new(), token: CallbackToken::new(token) };
    say(&"ready");
    wait();
    let what = if applied { Report::Applied(live(17)) } else { refused() };
    let taken = report(&store, &call, what).await;
    say(&matches!(taken, Reported::Settled(_)));
    store.close().await.unwrap();
}

/// One report has settled the execution, and both are recorded.
async fn won_by_one(store: &Store, id: Id, settled: &[bool; 2]) {
    assert_ne!(settled[0], settled[1]);
    let history = store.history(id).await.unwrap();
    let late: Vec<bool> = history
        .entries
        .iter()
        .filter_map(|entry| match CallFact::of(entry)? {
            CallFact::Evidence { late, .. } => Some(late),
            _ => None,
        })
        .collect();
    assert_eq!(late, [false, true]);
    let expected = if settled[0] { Label::Success } else { Label::Contradicted };
    assert_eq!(label(store, id).await, expected);
    assert_intact(store).await;
}
