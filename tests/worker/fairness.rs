//! Many machines: bounded, in turn, one worker each.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::GraphRunner,
    machine,
    store::Store,
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{Does, actors, create, does, each, settle, worker};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Walk {
    #[initial]
    #[on(step => Right, by = GraphRunner)]
    #[on(stop => Home, by = GraphRunner)]
    Left,
    #[on(step => Left, by = GraphRunner)]
    Right,
    #[terminal]
    Home,
}

/// Counts of the concurrent handlers, and of the calls for each machine.
#[derive(Clone, Default)]
struct Watch {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    at: Arc<Mutex<HashMap<Id, usize>>>,
    calls: Arc<Mutex<HashMap<Id, usize>>>,
}

impl Watch {
    fn enter(&self, id: Id) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let mut at = self.at.lock().unwrap();
        let here = at.entry(id).or_default();
        *here += 1;
        assert_eq!(*here, 1, "two handlers of {id} at once");
        *self.calls.lock().unwrap().entry(id).or_default() += 1;
    }

    fn leave(&self, id: Id) {
        self.now.fetch_sub(1, Ordering::SeqCst);
        *self.at.lock().unwrap().get_mut(&id).unwrap() -= 1;
    }

    /// Walks right, left and home, with an await in each handler. The one that is named never stops.
    fn walks(&self, endless: Option<Id>) -> Does<AnyWalk> {
        let (watch, by) = (self.clone(), Arc::new(actors().graph_runner));
        does(move |walk: AnyWalk, task| {
            let (watch, by, id) = (watch.clone(), Arc::clone(&by), task.id());
            Box::pin(async move {
                watch.enter(id);
                tokio::task::yield_now().await;
                let steps = watch.calls.lock().unwrap()[&id];
                watch.leave(id);
                Ok(match walk {
                    AnyWalk::Left(walk) if steps > 2 && endless != Some(id) => {
                        Next::to(walk.stop(&*by))
                    }
                    AnyWalk::Left(walk) => Next::to(walk.step(&*by)),
                    AnyWalk::Right(walk) => Next::to(walk.step(&*by)),
                    AnyWalk::Home(_) => Next::Wait,
                })
            })
        })
    }

    fn all_stopped(&self) {
        assert_eq!(self.now.load(Ordering::SeqCst), 0);
    }
}

async fn walks(store: &Store, count: usize) -> Vec<Id> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(create(store, Walk::new()).await);
    }
    ids
}

async fn is_home(store: &Store, id: Id) -> bool {
    store.load::<AnyWalk>(id).await.unwrap().status() == walk::Status::Home
}

/// Each handler is called three times, at most four at once. `MACHINE_WALKS=1000` sets how many
/// machines there are.
#[tokio::test]
async fn many_machines() {
    let count = std::env::var("MACHINE_WALKS").map_or(200, |text| text.parse().unwrap());
    each(async |store: Store| {
        let ids = walks(&store, count).await;
        let watch = Watch::default();
        settle(worker(&store).concurrency(4).handler(watch.walks(None))).await;
        for id in ids {
            assert!(is_home(&store, id).await);
            assert_eq!(watch.calls.lock().unwrap()[&id], 3);
        }
        let most = watch.most.load(Ordering::SeqCst);
        assert!((2..=4).contains(&most), "{most}");
        watch.all_stopped();
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

/// The queue is in the order of time, so it must advance.
async fn running_clocks(test: impl AsyncFn(Store)) {
    let folder = tempfile::tempdir().unwrap();
    test(Store::memory()).await;
    test(Store::sqlite(folder.path().join("agent.db")).await.unwrap()).await;
}

/// A machine that is never done, with room for one.
#[tokio::test]
async fn endless_machine_starves_no_other() {
    running_clocks(async |store: Store| {
        let endless = create(&store, Walk::new()).await;
        let ids = walks(&store, 10).await;
        let watch = Watch::default();
        let walking: Worker = worker(&store).concurrency(1).handler(watch.walks(Some(endless)));
        let running = walking.start();
        let done = async {
            for id in ids {
                while !is_home(&store, id).await {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), done).await.expect("all come home");
        running.stop().await.unwrap();
        assert!(!is_home(&store, endless).await);
        watch.all_stopped();
    })
    .await;
}

/// On several threads, and each with its own idea of what is ready.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_never_meet() {
    each(async |store: Store| {
        let ids = walks(&store, 100).await;
        let watch = Watch::default();
        let [first, second] = [0, 1].map(|_| worker(&store).handler(watch.walks(None)));
        tokio::join!(settle(first), settle(second));
        // A third worker takes the machines that one still had when the other came to rest.
        settle(worker(&store).handler(watch.walks(None))).await;
        for id in ids {
            assert!(is_home(&store, id).await);
            assert_eq!(watch.calls.lock().unwrap()[&id], 3);
        }
        watch.all_stopped();
        assert!(store.set_aside().await.unwrap().machines.is_empty());
    })
    .await;
}
