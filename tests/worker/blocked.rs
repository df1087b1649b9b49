//! A handler that blocks its thread: nothing can stop it, so another worker takes its machine over.

use std::{path::PathBuf, sync::mpsc, thread::JoinHandle};

use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::worker::prelude::*;

/// A worker on a separate runtime, whose handler blocks its thread until it is released.
struct Blocked {
    go_on: mpsc::Sender<()>,
    stop: oneshot::Sender<()>,
    /// Ends when `stop` of the worker has ended; the handler may still block.
    thread: JoinHandle<bool>,
}

impl Blocked {
    /// Starts a worker, and waits until its handler blocks, perhaps after a commit.
    fn start(open: impl AsyncFnOnce() -> Store + Send + 'static, commits: bool) -> Self {
        let (go_on, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let (entered, inside) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            let runtime = builder.worker_threads(3).enable_all().build().unwrap();
            let ended = runtime.block_on(async {
                let store = open().await;
                let told = Arc::new(Mutex::new(told));
                let blocks = does(move |ticket: AnyTicket, task| {
                    let (entered, told) = (entered.clone(), Arc::clone(&told));
                    let store = task.store().clone();
                    Box::pin(async move {
                        if commits {
                            // The worker's loop rests by then.
                            tokio::time::sleep(Duration::from_millis(5)).await;
                            store.create(&mut Lamp::new()).await?;
                        }
                        let _ = entered.send(());
                        // Like `std::thread::sleep`, or a blocking client.
                        let _ = told.lock().unwrap().recv();
                        Ok(locks(ticket))
                    })
                });
                let limit = Duration::from_millis(100);
                let running = short_lease(&store, blocks).handler_limit(limit).start();
                stopped.await.unwrap();
                tokio::time::timeout(STUCK, running.stop()).await.is_ok()
            });
            runtime.shutdown_background();
            ended
        });
        inside.recv_timeout(STUCK).expect("the handler begins");
        Self { go_on, stop, thread }
    }

    /// Asks the worker to stop, which it does after its grace. The handler blocks until the sender
    /// is dropped.
    async fn stops(self) -> mpsc::Sender<()> {
        self.stop.send(()).unwrap();
        let stopped = tokio::task::spawn_blocking(|| self.thread.join()).await.unwrap();
        assert!(stopped.unwrap(), "the worker hangs");
        self.go_on
    }
}

/// A file with an open ticket.
struct Place {
    _folder: TempDir,
    path: PathBuf,
    store: Store,
    id: Id,
}

impl Place {
    async fn new() -> Self {
        let (folder, path) = new_file();
        let store = Store::sqlite(&path).await.unwrap();
        let id = create(&store, Ticket::new().open(graph_runner())).await;
        Self { _folder: folder, path, store, id }
    }

    fn blocked(&self) -> Blocked {
        let path = self.path.clone();
        Blocked::start(async move || Store::sqlite(path).await.unwrap(), false)
    }

    /// Runs another worker until a machine is in a state.
    async fn other(&self, handler: Does<AnyTicket>, id: Id, status: &str) {
        let store = Store::sqlite(&self.path).await.unwrap();
        let other = short_lease(&store, handler).start();
        until(status, async || state(&self.store, id).await == status).await;
        other.stop().await.unwrap();
    }

    /// Releases the blocked handler. It returns a transition, and nothing of it is written.
    async fn retries_in_vain(&self, blocked: Blocked) {
        let before = self.store.history(self.id).await.unwrap().entries;
        blocked.go_on.send(()).unwrap();
        drop(blocked.stops().await);
        assert_eq!(self.store.history(self.id).await.unwrap().entries, before);
        assert!(self.store.verify_all(|_| ()).await.unwrap().is_clean());
    }
}

fn short_lease(store: &Store, handler: Does<AnyTicket>) -> Worker {
    let turns_off = moves(|lamp, _| match lamp {
        AnyLamp::On(lamp) => Next::to(lamp.cancel(graph_runner())),
        AnyLamp::Off(_) => Next::Wait,
    });
    worker(store)
        .lease(Duration::from_millis(300))
        .grace(Duration::ZERO)
        .sweep(Duration::from_millis(20))
        .handler(handler)
        .handler(turns_off)
}

fn locks(ticket: AnyTicket) -> Next<AnyTicket> {
    match ticket {
        AnyTicket::Open(ticket) => Next::to(ticket.lock(graph_runner())),
        _ => Next::Wait,
    }
}

#[tokio::test]
async fn another_worker_takes_over_from_a_handler_that_blocks() {
    let place = Place::new().await;
    let blocked = place.blocked();
    place.other(moves(|ticket, _| locks(ticket)), place.id, "locked").await;
    place.retries_in_vain(blocked).await;
}

/// In memory, the claim rings the doorbell on the thread that the handler blocks then, and so does
/// a commit of the handler. The worker still drives others.
#[tokio::test]
async fn worker_in_memory_drives_others_while_a_handler_blocks() {
    for commits in [false, true] {
        let store = Store::memory();
        let ticket = create(&store, Ticket::new().open(graph_runner())).await;
        let same = store.clone();
        let blocked = Blocked::start(async move || same, commits);
        let lamp = create(&store, Lamp::new()).await;
        until("the lamp is off", async || state(&store, lamp).await == "off").await;
        is(&store, ticket, "open").await;
        drop(blocked.stops().await);
    }
}

/// A message waits for no handler that blocks.
#[tokio::test]
async fn another_worker_cancels_what_a_handler_blocks() {
    let place = Place::new().await;
    let blocked = place.blocked();
    let cancel = tells(r#"{"trigger": "cancel", "reason": "it takes too long"}"#, "cancel");
    place.store.send(place.id, &cancel).await.unwrap();
    place.other(rests(), place.id, "cancelled").await;
    assert_eq!(inbox(&place.store, place.id).await[0].status, Delivery::Handled);
    place.retries_in_vain(blocked).await;
}

/// A machine that has blocked two workers is driven alone by the third. It blocks that one, too,
/// and keeps nothing else from being driven. A worker whose handler blocks stops after its grace,
/// and leaves the handler behind.
#[tokio::test]
async fn one_that_blocks_every_worker_stops_none_of_them() {
    let place = Place::new().await;
    let blocked = [place.blocked(), place.blocked(), place.blocked()];
    let other = create(&place.store, Lamp::new()).await;
    until("the lamp is off", async || state(&place.store, other).await == "off").await;
    let [first, second, third] = blocked;
    let _held = tokio::join!(first.stops(), second.stops(), third.stops());
    is(&place.store, place.id, "open").await;
}
