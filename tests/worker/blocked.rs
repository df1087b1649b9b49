//! A handler that blocks its thread: nothing can stop it, so another worker takes its machine over.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use machine::{
    Id,
    actor::GraphRunner,
    machine,
    store::{Delivery, Message, Store},
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::worker::{
    process::until,
    support::{Does, actors, create, does, worker},
};

const LEASE: Duration = Duration::from_millis(300);

/// Long enough that its end is never a reason for a test to pass.
const STUCK: Duration = Duration::from_mins(1);

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Chore {
    #[initial]
    #[on(work(by) => Done, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner)]
    Open,
    #[terminal]
    Done { by: String },
    #[terminal]
    Cancelled { reason: String },
}

/// It blocks nothing.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(run => Done, by = GraphRunner)]
    Open,
    #[terminal]
    Done,
}

/// A worker on a separate runtime, whose handler blocks its thread until it is released.
struct Blocked {
    go_on: mpsc::Sender<()>,
    stop: oneshot::Sender<()>,
    /// Ends when `stop` of the worker has ended; the handler may still block.
    thread: JoinHandle<bool>,
}

struct Place {
    _folder: TempDir,
    path: std::path::PathBuf,
    store: Store,
    id: Id,
}

impl Place {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        let store = Store::sqlite(&path).await.unwrap();
        let id = create(&store, Chore::new()).await;
        Self { _folder: folder, path, store, id }
    }

    /// Starts a worker, and waits until its handler blocks.
    fn blocked(&self) -> Blocked {
        let (go_on, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let (entered, inside) = mpsc::channel();
        let path = self.path.clone();
        let thread = std::thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            let runtime = builder.worker_threads(3).enable_all().build().unwrap();
            let ended = runtime.block_on(async {
                let store = Store::sqlite(path).await.unwrap();
                let told = Arc::new(Mutex::new(told));
                let running = limited(&store, blocks(entered, told)).start();
                stopped.await.unwrap();
                tokio::time::timeout(STUCK, running.stop()).await.is_ok()
            });
            runtime.shutdown_background();
            ended
        });
        inside.recv_timeout(STUCK).expect("the handler begins");
        Blocked { go_on, stop, thread }
    }

    async fn status(&self) -> chore::Status {
        self.store.load::<AnyChore>(self.id).await.unwrap().status()
    }

    async fn version(&self) -> usize {
        self.store.history(self.id).await.unwrap().entries.len()
    }

    async fn becomes(&self, status: chore::Status) {
        until(&format!("it is {status}"), || async { self.status().await == status }).await;
    }

    /// Releases the blocked handler. It returns a transition, and nothing of it is written.
    async fn goes_on_in_vain(&self, blocked: Blocked) {
        let before = (self.status().await, self.version().await);
        blocked.go_on.send(()).unwrap();
        blocked.stop.send(()).unwrap();
        let stopped = tokio::task::spawn_blocking(|| blocked.thread.join()).await.unwrap();
        assert!(stopped.unwrap(), "the worker hangs");
        assert_eq!((self.status().await, self.version().await), before);
        assert!(self.store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    }
}

fn limited(store: &Store, handler: Does<AnyChore>) -> Worker {
    worker(store)
        .lease(LEASE)
        .handler_limit(Duration::from_millis(100))
        .grace(Duration::ZERO)
        .sweep(Duration::from_millis(20))
        .handler(handler)
        .handler(runs())
}

fn runs() -> Does<AnyErrand> {
    let runner = actors().graph_runner;
    does(move |errand, _| {
        let next = match errand {
            AnyErrand::Open(errand) => Next::to(errand.run(&runner)),
            AnyErrand::Done(_) => Next::Wait,
        };
        Box::pin(async move { Ok(next) })
    })
}

fn blocks(entered: mpsc::Sender<()>, told: Arc<Mutex<mpsc::Receiver<()>>>) -> Does<AnyChore> {
    let runner = actors().graph_runner;
    does(move |chore, _| {
        let _ = entered.send(());
        // Like `std::thread::sleep`, or a blocking client.
        let _ = told.lock().unwrap().recv();
        let next = match chore {
            AnyChore::Open(chore) => Next::to(chore.work("the blocked one".to_owned(), &runner)),
            _ => Next::Wait,
        };
        Box::pin(async move { Ok(next) })
    })
}

fn works() -> Does<AnyChore> {
    let runner = actors().graph_runner;
    does(move |chore, _| {
        let next = match chore {
            AnyChore::Open(chore) => Next::to(chore.work("another".to_owned(), &runner)),
            _ => Next::Wait,
        };
        Box::pin(async move { Ok(next) })
    })
}

#[tokio::test]
async fn another_worker_takes_over_from_a_handler_that_blocks() {
    let place = Place::new().await;
    let blocked = place.blocked();
    let store = Store::sqlite(&place.path).await.unwrap();
    let other = limited(&store, works()).start();
    place.becomes(chore::Status::Done).await;
    other.stop().await.unwrap();
    let AnyChore::Done(done) = place.store.load(place.id).await.unwrap() else { panic!() };
    assert_eq!(done.state().by, "another");
    place.goes_on_in_vain(blocked).await;
}

/// A message waits for no handler that blocks.
#[tokio::test]
async fn another_worker_cancels_what_a_handler_blocks() {
    let place = Place::new().await;
    let blocked = place.blocked();
    let cancel = r#"{"trigger": "cancel", "reason": "it takes too long"}"#;
    let cancel = Message::from_json(cancel, &actors().graph_runner).unwrap();
    place.store.send(place.id, &cancel).await.unwrap();
    let store = Store::sqlite(&place.path).await.unwrap();
    let waits = does(|_: AnyChore, _| Box::pin(async { Ok(Next::Wait) }));
    let other = limited(&store, waits).start();
    place.becomes(chore::Status::Cancelled).await;
    other.stop().await.unwrap();
    assert_eq!(
        place.store.inbox(place.id).await.unwrap()[0].as_ref().unwrap().status,
        Delivery::Handled
    );
    place.goes_on_in_vain(blocked).await;
}

/// A machine that has blocked two workers is driven alone by the third. It blocks that one, too, and keeps
/// nothing else from being driven.
#[tokio::test]
async fn one_that_blocks_every_worker_stops_none_of_them() {
    let place = Place::new().await;
    let blocked = [place.blocked(), place.blocked(), place.blocked()];
    let other = create(&place.store, Errand::new()).await;
    let is_done = || async {
        let errand: AnyErrand = place.store.load(other).await.unwrap();
        errand.status() == errand::Status::Done
    };
    until("the other machine is done", is_done).await;
    for Blocked { go_on, stop, thread } in blocked {
        go_on.send(()).unwrap();
        stop.send(()).unwrap();
        let stopped = tokio::task::spawn_blocking(|| thread.join()).await.unwrap();
        assert!(stopped.unwrap(), "the worker hangs");
    }
}

/// A worker whose handler blocks stops after its grace, and leaves the handler behind.
#[tokio::test]
async fn stop_waits_for_no_handler_that_blocks() {
    let place = Place::new().await;
    let Blocked { go_on, stop, thread } = place.blocked();
    stop.send(()).unwrap();
    let stopped = tokio::task::spawn_blocking(|| thread.join()).await.unwrap();
    assert!(stopped.unwrap(), "the worker hangs");
    assert_eq!(place.status().await, chore::Status::Open);
    drop(go_on);
}
