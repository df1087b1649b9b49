//! A doorbell is about latency only: what it does can neither lose nor repeat anything.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    contract::BoxFuture,
    store::{OpenOptions, Store},
    worker::Doorbell,
};

use crate::worker::support::{each, opens, says, settle, status, ticket, ticket::Status, worker};

const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;

/// It never rings.
struct Silent;

impl Doorbell for Silent {
    fn ring(&self) {}

    fn listen(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// It always rings, for 10,000 times.
#[derive(Clone, Default)]
struct Mad(Arc<AtomicUsize>);

impl Mad {
    const MOST: usize = 10_000;
}

impl Doorbell for Mad {
    fn ring(&self) {}

    fn listen(&self) -> BoxFuture<'static, ()> {
        if self.0.fetch_add(1, Ordering::SeqCst) < Self::MOST {
            Box::pin(std::future::ready(()))
        } else {
            Box::pin(std::future::pending())
        }
    }
}

/// It counts what was committed.
#[derive(Clone, Default)]
struct Counts(Arc<AtomicUsize>);

impl Doorbell for Counts {
    fn ring(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn listen(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

async fn becomes_paid(store: &Store, id: machine::Id) {
    let done = async {
        while status(store, id).await != Status::Paid {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), done).await.expect("the worker finds it");
}

#[tokio::test]
async fn silent_doorbell_loses_nothing() {
    each(async |store: Store| {
        let running = worker(&store).doorbell(Silent).handler(opens()).start();
        let id = ticket(&store).await;
        store.send(id, &says(PAY, "pay")).await.unwrap();
        becomes_paid(&store, id).await;
        running.stop().await.unwrap();
    })
    .await;
}

/// Two handles of one file ring each other only through the file. Even if that were lost: the sweep.
#[tokio::test]
async fn sweep_finds_what_another_handle_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let (ours, theirs) = (Store::sqlite(&path).await.unwrap(), Store::sqlite(&path).await.unwrap());
    let sweeps = worker(&ours).sweep(Duration::from_millis(5)).handler(opens());
    let running = sweeps.start();
    for _ in 0..5 {
        let id = ticket(&theirs).await;
        theirs.send(id, &says(PAY, "pay")).await.unwrap();
        becomes_paid(&theirs, id).await;
    }
    running.stop().await.unwrap();
}

/// It does not keep the worker from its work, nor the runtime from other tasks.
#[tokio::test]
async fn mad_doorbell_does_no_harm() {
    each(async |store: Store| {
        let mad = Mad::default();
        let running = worker(&store).doorbell(mad.clone()).handler(opens()).start();
        // The worker comes first, on the only thread.
        tokio::task::yield_now().await;
        let heard = mad.0.load(Ordering::SeqCst);
        assert!(heard < Mad::MOST, "no other task ran for {heard} rings");
        for _ in 0..5 {
            let id = ticket(&store).await;
            store.send(id, &says(PAY, "pay")).await.unwrap();
            becomes_paid(&store, id).await;
        }
        running.stop().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn doorbell_rings_after_each_commit() {
    let store = OpenOptions::new().memory();
    let counts = Counts::default();
    let worker = worker(&store).doorbell(counts.clone()).handler(opens());
    let id = ticket(&store).await;
    let created = counts.0.load(Ordering::SeqCst);
    assert!(created > 0);
    store.send(id, &says(PAY, "pay")).await.unwrap();
    let sent = counts.0.load(Ordering::SeqCst);
    assert!(sent > created);
    settle(worker).await;
    assert!(counts.0.load(Ordering::SeqCst) > sent);
}
