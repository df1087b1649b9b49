//! Other processes recover, fence and decide while a worker is in its call.

use std::path::PathBuf;

use machine::{
    Id,
    contract::{AnyExecution, Evidence},
    store::{CommitError, LoadError, Store},
    view::Label,
};
use machine_tests::actors::{ann, graph_runner};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, label, late, name, new_store, stored},
    tool::{Pay, Step, Teller, pay},
    worker::{self, Report},
};
use crate::process::{Process, orders, say, wait};

/// The findings of a process that recovered: in doubt, settled.
type Found = (usize, usize);

/// Recovers again and again, and says how much it found.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn recovers() {
    let (file, times): (PathBuf, usize) = orders();
    let store = Store::sqlite(file).await.unwrap();
    say(&"ready");
    wait();
    let mut found: Found = (0, 0);
    for _ in 0..times {
        let recovered = store.recover().await.unwrap();
        assert!(recovered.failed.is_empty(), "{recovered:?}");
        let completed = |any: &AnyExecution| matches!(any, AnyExecution::Completed(_));
        assert!(recovered.settled.iter().all(completed), "{recovered:?}");
        found = (found.0 + recovered.in_doubt.len(), found.1 + recovered.settled.len());
    }
    say(&found);
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn fences() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(file).await.unwrap();
    say(&"ready");
    wait();
    let fenced = store.fence(id, "too slow", graph_runner()).await;
    say(&fenced.map(drop).map_err(|error| name(&error)));
}

/// Processes that begin at the same time.
struct Crowd(Vec<Process>);

impl Crowd {
    fn start(count: usize, kind: &str, orders: &impl serde::Serialize) -> Self {
        let kind = format!("effects::taken_over::{kind}");
        let mut all: Vec<Process> = (0..count).map(|_| Process::start(&kind, orders)).collect();
        for one in &mut all {
            assert_eq!(one.hear::<String>(), "ready");
        }
        Self(all)
    }

    fn go(&mut self) {
        self.0.iter_mut().for_each(Process::go);
    }

    fn said<T: serde::de::DeserializeOwned>(self) -> Vec<T> {
        let said = |mut one: Process| {
            let said = one.hear();
            one.join();
            said
        };
        self.0.into_iter().map(said).collect()
    }
}

/// A worker that is alive and in time is left alone, however often others look.
#[tokio::test]
async fn recovering_does_not_disturb_a_call() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    bank.hold_replies();
    let mut worker = worker::start("pays", &file, id, Teller::pays(&bank));
    bank.wait_for_payments(1);
    let mut crowd = Crowd::start(3, "recovers", &(&file, 20));
    crowd.go();
    assert_eq!(crowd.said::<Found>(), [(0, 0); 3]);
    let mut crowd = Crowd::start(2, "recovers", &(&file, 20));
    crowd.go();
    bank.release();
    assert_eq!(worker.hear::<Report>(), Report::Completed("receipt 1".to_owned()));
    worker.join();
    assert_eq!(crowd.said::<Found>(), [(0, 0); 2]);
    assert_eq!(bank.count(), 1);
    assert_intact(&store).await;
}

/// Several processes fence one worker: one does. Several recover its late receipt: one does.
#[tokio::test]
async fn one_process_takes_over() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    bank.hold_replies();
    let mut worker = worker::start("pays", &file, id, Teller::pays(&bank));
    bank.wait_for_payments(1);
    let mut crowd = Crowd::start(3, "fences", &(&file, id));
    crowd.go();
    let mut fenced = crowd.said::<Result<(), String>>();
    fenced.sort();
    let refused = || Err("NotRunning".to_owned());
    assert_eq!(fenced, [Ok(()), refused(), refused()]);

    bank.release();
    let receipt = Evidence::Applied("receipt 1".to_owned());
    assert_eq!(worker.hear::<Report>(), Report::Late(receipt));
    worker.join();
    let mut crowd = Crowd::start(3, "recovers", &(&file, 1));
    crowd.go();
    let found = crowd.said::<Found>();
    assert_eq!(found.iter().map(|found| found.1).sum::<usize>(), 1, "{found:?}");
    assert_eq!(label(&store, id).await, Label::Success);
    assert_eq!(bank.count(), 1);
    assert_intact(&store).await;
}

/// A person overrides at the moment when the late receipt arrives. It is never lost, and nothing pays
/// again.
#[tokio::test]
async fn an_override_races_with_the_receipt() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    for round in 0..4 {
        let contract = || pay(&format!("bob {round}"));
        let id = stored::<Pay>(&store, contract()).await.id();
        let other = stored::<Pay>(&store, contract()).await.id();
        let teller = Teller::new(&bank, &[Step::Pay, Step::Freeze]);
        let mut worker = worker::start("pays", &file, id, teller);
        worker.freeze();
        let doubt = store.fence(id, "too slow", graph_runner()).await.unwrap();
        worker.thaw();
        let overridden = store.override_not_applied(doubt, "I do not see it", ann()).await;
        let receipt = Evidence::Applied(format!("receipt {}", round + 1));
        assert_eq!(worker.hear::<Report>(), Report::Late(receipt.clone()));
        worker.join();
        assert_eq!(late(&store, id).await, [receipt]);
        match overridden {
            Ok(_) => assert_eq!(label(&store, id).await, Label::Contradicted),
            Err(refused) => {
                assert!(matches!(refused.reason, CommitError::Conflict { .. }), "{refused}");
                assert_eq!(store.recover().await.unwrap().settled.len(), 1);
                assert_eq!(label(&store, id).await, Label::Success);
            }
        }
        let report = worker::run("pays", &file, other, Teller::pays(&bank));
        assert_eq!(report, Report::NotBegun("AlreadyDone".to_owned()));
        assert!(matches!(store.in_doubt(id).await, Err(LoadError::NotInDoubt { .. })));
    }
    assert_eq!(bank.count(), 4);
    assert_intact(&store).await;
}
