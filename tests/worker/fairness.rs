//! Many machines: bounded, in turn, one worker each.

use std::collections::HashMap;

use crate::worker::prelude::*;

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

/// The handlers at work, their maximum, and the calls for each machine.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    now: Vec<Id>,
    most: usize,
    calls: HashMap<Id, usize>,
}

impl Watch {
    fn enter(&self, id: Id) {
        let mut seen = self.0.lock().unwrap();
        assert!(!seen.now.contains(&id), "two handlers of {id} at once");
        seen.now.push(id);
        seen.most = seen.most.max(seen.now.len());
        *seen.calls.entry(id).or_default() += 1;
    }

    /// Returns the number of calls for the machine.
    fn leave(&self, id: Id) -> usize {
        let mut seen = self.0.lock().unwrap();
        seen.now.retain(|other| *other != id);
        seen.calls[&id]
    }

    /// Walks right, left and home, with an await in each handler. The one that is named never
    /// stops.
    fn walks(&self, endless: Option<Id>) -> Does<AnyWalk> {
        let watch = self.clone();
        does(move |walk: AnyWalk, task| {
            let (watch, by, id) = (watch.clone(), graph_runner(), task.id());
            Box::pin(async move {
                watch.enter(id);
                tokio::task::yield_now().await;
                let steps = watch.leave(id);
                Ok(match walk {
                    AnyWalk::Left(walk) if steps > 2 && endless != Some(id) => {
                        Next::to(walk.stop(by))
                    }
                    AnyWalk::Left(walk) => Next::to(walk.step(by)),
                    AnyWalk::Right(walk) => Next::to(walk.step(by)),
                    AnyWalk::Home(_) => Next::Wait,
                })
            })
        })
    }

    /// All are home, after three calls each, and nothing is set aside. Returns the maximum at once.
    async fn all_home(&self, store: &Store, ids: &[Id]) -> usize {
        for id in ids {
            is(store, *id, "home").await;
            assert_eq!(self.0.lock().unwrap().calls[id], 3);
        }
        set_aside(store, &[]).await;
        assert!(self.0.lock().unwrap().now.is_empty());
        self.0.lock().unwrap().most
    }
}

async fn walks(store: &Store, count: usize) -> Vec<Id> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(create(store, Walk::new()).await);
    }
    ids
}

/// Each handler is called three times, at most four at once. `MACHINE_WALKS=1000` sets how many
/// machines there are.
#[test]
fn many_machines() {
    let count = std::env::var("MACHINE_WALKS").map_or(200, |text| text.parse().unwrap());
    each(async |store| {
        let (ids, watch) = (walks(&store, count).await, Watch::default());
        settle(worker(&store).concurrency(4).handler(watch.walks(None))).await;
        let most = watch.all_home(&store, &ids).await;
        assert!((2..=4).contains(&most), "{most}");
    });
}

/// A machine that is never done, with room for one. The queue is in the order of time, so the clock
/// must advance.
#[test]
fn endless_machine_starves_no_other() {
    timed(async |store, hand| {
        let endless = create(&store, Walk::new()).await;
        let (ids, watch) = (walks(&store, 10).await, Watch::default());
        let running = worker(&store).concurrency(1).handler(watch.walks(Some(endless))).start();
        for id in &ids {
            until("it comes home", async || {
                hand.advance(1);
                state(&store, *id).await == "home"
            })
            .await;
        }
        running.stop().await.unwrap();
        assert_ne!(state(&store, endless).await, "home");
        watch.all_home(&store, &ids).await;
    });
}

/// On several threads, and each with its own idea of what is ready.
#[test]
fn two_workers_never_meet() {
    on_threads(async |store| {
        let (ids, watch) = (walks(&store, 100).await, Watch::default());
        let [first, second] = [0, 1].map(|_| worker(&store).handler(watch.walks(None)));
        tokio::join!(settle(first), settle(second));
        // A third worker takes the machines that one still had when the other came to rest.
        settle(worker(&store).handler(watch.walks(None))).await;
        watch.all_home(&store, &ids).await;
    });
}
