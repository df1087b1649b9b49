//! A is frozen in an irreversible call. B does not call again, and what A brings is evidence only.

use std::time::Duration;

use machine::{
    Id,
    contract::{AnyExecution, CallFact, Evidence, Execution, execution::Status},
    store::Store,
    view::{ConsequenceView, Label},
};

use super::office::{LEASE, Office};
use crate::{
    effects::{
        bank::{Bank, Dedup},
        tool::{Step, Teller, pay},
    },
    worker::process::{Orders, until},
};

/// The time limit of the call.
const TIMEOUT: Duration = Duration::from_millis(100);

async fn status(store: &Store, id: Id) -> Status {
    store.load::<AnyExecution>(id).await.unwrap().status()
}

/// Without a change: `Store::in_doubt` looks after its worker.
async fn is_in_doubt(store: &Store, id: Id) -> bool {
    ConsequenceView::of(&store.load(id).await.unwrap()).consequence_label == Label::InDoubt
}

/// The facts of a call, in order.
async fn facts(store: &Store, id: Id) -> Vec<CallFact> {
    let history = store.history(id).await.unwrap();
    history.entries.iter().filter_map(CallFact::of).collect()
}

async fn pays_once(script: &[Step]) {
    let office = Office::open().await;
    let (store, bank) = (&office.store, Bank::open(Dedup::Nothing));
    let contract = pay("bob").timeout_after(TIMEOUT);
    let mut payment = Execution::new(contract);
    store.create(&mut payment).await.unwrap();
    let id = payment.id();
    let orders = |name: &str, teller: Teller| Orders {
        teller: Some(teller),
        lease: LEASE,
        ..Orders::new(name, &office.file)
    };
    let mut a = orders("A", Teller::new(&bank, script)).start();
    a.process.freeze();
    assert_eq!(bank.count(), 0);

    // B finds the call overdue, once the lease has ended. It does not know how it ended, and does not try.
    let b = orders("B", Teller::pays(&bank)).start();
    until("it is in doubt", || is_in_doubt(store, id)).await;
    until("B has nothing to do", || async {
        let raw = rusqlite::Connection::open(&office.file).unwrap();
        let idle = "SELECT worker IS NULL AND wake_at > ?1 FROM work
                    JOIN instance ON no = instance WHERE status = 'waiting'";
        raw.query_row(idle, [machine::clock::now()], |row| row.get(0)).unwrap()
    })
    .await;
    b.stop();
    assert!(is_in_doubt(store, id).await);
    assert_eq!(bank.count(), 0);
    let before = store.history(id).await.unwrap().entries;

    a.terminate();
    a.process.thaw();
    let report = a.stopped();
    a.process.join();
    assert_eq!(bank.count(), 1);
    // The state is as it was, and the evidence is there.
    assert_eq!(status(store, id).await, Status::Waiting, "{report:?}");
    let after = store.history(id).await.unwrap().entries;
    assert_eq!(after[..before.len()], before);
    // Its receipt, and that its call is over: no transition.
    let added: Vec<_> = after[before.len()..].iter().map(CallFact::of).collect();
    match &added[..] {
        [
            Some(CallFact::Evidence { evidence: Evidence::Applied(receipt), late: true, .. }),
            Some(CallFact::WorkerEnded { .. }),
        ] => assert_eq!(receipt, "receipt 1"),
        other => panic!("{other:?}"),
    }

    // A worker settles it by that evidence; no query is needed.
    let c = orders("C", Teller::pays(&bank)).start();
    until("it is settled", || async { status(store, id).await != Status::Waiting }).await;
    c.stop();
    match store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Completed(done) => assert_eq!(done.state().result, "receipt 1"),
        other => panic!("{other:?}"),
    }
    let facts = facts(store, id).await;
    let permits = facts.iter().filter(|fact| matches!(fact, CallFact::Permitted { .. })).count();
    assert_eq!(permits, 1, "{facts:?}");
    let confirmed = facts.iter().any(|fact| matches!(fact, CallFact::Confirmed { .. }));
    assert!(!confirmed, "{facts:?}");
    assert_eq!(bank.count(), 1);
    office.assert_intact().await;
}

/// B asks the bank, and that it was paid counts at any time. What A brings later is kept.
#[tokio::test]
async fn frozen_after_it_has_paid() {
    let office = Office::open().await;
    let (store, bank) = (&office.store, Bank::open(Dedup::Nothing));
    let mut payment = Execution::new(pay("bob").timeout_after(TIMEOUT));
    store.create(&mut payment).await.unwrap();
    let id = payment.id();
    let orders = |name: &str, teller: Teller| Orders {
        teller: Some(teller),
        lease: LEASE,
        ..Orders::new(name, &office.file)
    };
    let mut a = orders("A", Teller::new(&bank, &[Step::Pay, Step::Freeze])).start();
    a.process.freeze();
    assert_eq!(bank.count(), 1);
    let b = orders("B", Teller::pays(&bank)).start();
    until("it is settled", || async { status(store, id).await == Status::Completed }).await;
    b.stop();

    a.terminate();
    a.process.thaw();
    a.stopped();
    a.process.join();
    let facts = facts(store, id).await;
    let confirmed = |fact: &CallFact| matches!(fact, CallFact::Confirmed { applied: true, .. });
    assert!(facts.iter().any(confirmed), "{facts:?}");
    let late = Evidence::Applied("receipt 1".to_owned());
    let is_late = |fact: &CallFact| matches!(fact, CallFact::Evidence { evidence, late: true, .. } if *evidence == late);
    assert!(facts.iter().any(is_late), "{facts:?}");
    assert_eq!((bank.count(), status(store, id).await), (1, Status::Completed));
    office.assert_intact().await;
}

#[tokio::test]
async fn frozen_before_it_pays() {
    pays_once(&[Step::Freeze, Step::Pay]).await;
}
