//! A doorbell is about latency only: what it does can neither lose nor repeat anything.

use machine::{contract::BoxFuture, worker::Doorbell};

use crate::worker::prelude::*;

/// It counts what was committed. A worker hears it as often as it should, and then never again.
#[derive(Clone, Default)]
struct Bell {
    rung: Count,
    heard: Count,
    rings: usize,
}

impl Doorbell for Bell {
    fn ring(&self) {
        self.rung.add();
    }

    fn listen(&self) -> BoxFuture<'static, ()> {
        if self.heard.add() < self.rings {
            Box::pin(std::future::ready(()))
        } else {
            Box::pin(std::future::pending())
        }
    }
}

/// Others send tickets with messages; the worker finds them.
async fn all_are_paid(store: &Store) {
    for _ in 0..5 {
        let id = ticket(store).await;
        store.send(id, &says(PAY, "pay")).await.unwrap();
        until("it is paid", async || state(store, id).await == "paid").await;
    }
}

/// One that never rings loses nothing. One that rings all the time keeps neither the worker from
/// its work, nor the runtime from other tasks.
#[test]
fn silent_and_mad_doorbells_do_no_harm() {
    for rings in [0, 10_000] {
        each(async |store| {
            let bell = Bell { rings, ..Bell::default() };
            let running = worker(&store).doorbell(bell.clone()).handler(opens()).start();
            // The worker comes first, on the only thread.
            tokio::task::yield_now().await;
            let heard = bell.heard.get();
            assert!(rings == 0 || heard < rings, "no other task ran for {heard} rings");
            all_are_paid(&store).await;
            running.stop().await.unwrap();
        });
    }
}

/// Two handles of one file ring each other only through the file. Even if that were lost: the
/// sweep.
#[tokio::test]
async fn sweep_finds_what_another_handle_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let (ours, theirs) = (Store::sqlite(&path).await.unwrap(), Store::sqlite(&path).await.unwrap());
    let running = worker(&ours).sweep(Duration::from_millis(5)).handler(opens()).start();
    all_are_paid(&theirs).await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn doorbell_rings_after_each_commit() {
    let (store, bell) = (Store::memory(), Bell::default());
    let worker = worker(&store).doorbell(bell.clone()).handler(opens());
    let id = ticket(&store).await;
    let created = bell.rung.get();
    assert!(created > 0);
    store.send(id, &says(PAY, "pay")).await.unwrap();
    let sent = bell.rung.get();
    assert!(sent > created);
    settle(worker).await;
    assert!(bell.rung.get() > sent);
}
