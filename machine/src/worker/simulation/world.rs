use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_channel::oneshot;
use futures_util::future::{Either, select};

use super::{
    checks,
    defects::Defect,
    ledger::Ledger,
    machines::{AnyTrip, Legs, Site, Trip, Trips},
    payments::{self, Service},
    shared::Shared,
    tours::{self, AnyTour},
};
use crate::{
    actor::{Actors, Human},
    effects::EffectError,
    id::Id,
    store::{CommitError, LoadError, Store, conformance::random::Random},
    worker::Worker,
};

const WORKERS: usize = 4;

/// The duration of the faults.
const STORM: Duration = Duration::from_secs(6);

/// Until then, every machine must be at its end.
const LIMIT: Duration = Duration::from_mins(5);

/// Runs one schedule. The same seed makes the same one.
pub(super) fn run(seed: u64, defect: Option<Defect>, is_traced: bool) -> Ledger {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing of the system");
    let shared = runtime.block_on(async {
        let shared = Shared::new(seed, defect, is_traced);
        schedule(&shared, seed).await;
        checks::at_the_end(&shared).await;
        // The doorbells in it refer to the handles, which refer to it.
        drop(shared.memory.close().await);
        shared
    });
    drop(runtime);
    std::mem::take(&mut *shared.ledger())
}

async fn schedule(shared: &Arc<Shared>, seed: u64) {
    // These are drawn apart, so that all other faults are the same without them.
    let mut random = Random::new(!seed);
    if random.permille(500) {
        let (after, by) = (random.millis(0..6000), random.millis(1..60_000));
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            shared.turn_back(by);
        });
    }
    let mut random = Random::new(seed.rotate_left(32) ^ 1);
    if random.permille(300) {
        // Longer than any deadline.
        let (after, time) = (random.millis(0..3000), random.millis(1500..3000));
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            shared.stop_all(time);
        });
    }
    for _ in 0..WORKERS {
        tokio::spawn(work(Arc::clone(shared)));
    }
    let trips = 1 + shared.random().below(3);
    for _ in 0..trips {
        shared.open.fetch_add(1, Ordering::AcqRel);
        let after = shared.random().millis(0..1500);
        tokio::spawn(create(Arc::clone(shared), after));
    }
    let orders = shared.random().below(3);
    for number in 0..orders {
        shared.open.fetch_add(1, Ordering::AcqRel);
        let after = shared.random().millis(0..3000);
        tokio::spawn(payments::order(Arc::clone(shared), number, after));
    }
    let tours = shared.random().below(3);
    for number in 0..tours {
        shared.open.fetch_add(1, Ordering::AcqRel);
        let after = shared.random().millis(0..1500);
        tokio::spawn(tours::travel(Arc::clone(shared), number, after));
    }
    tokio::time::sleep(STORM).await;
    shared.calm();
    let person = shared.plain();
    for _ in 0..LIMIT.as_secs() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if shared.open.load(Ordering::Acquire) == 0 && shared.ledger().all_ended() {
            return;
        }
        shared.ledger().count("seconds after the faults");
        requeue(shared, &person).await;
    }
}

/// A person requeues work that was set aside because workers ended.
async fn requeue(shared: &Shared, store: &Store) {
    let Ok(aside) = store.set_aside().await else { return };
    let message = |id: Id| {
        let of_machine = aside.messages.iter().filter(move |message| message.to == id);
        of_machine.filter(|it| it.error.as_ref().is_some_and(|error| error.contains("attempts")))
    };
    let ids: Vec<_> = shared.ledger().machines.iter().map(|machine| machine.id).collect();
    for id in ids {
        let names: Vec<_> = message(id).map(|message| message.correlation.as_str()).collect();
        if !names.is_empty() || aside.machines.iter().any(|(machine, _)| *machine == id) {
            shared.ledger().requeued(id, &names);
            // One that has ended keeps them set aside.
            drop(store.requeue(id, &names).await);
        }
    }
}

/// A worker that is started again whenever it has ended.
async fn work(shared: Arc<Shared>) {
    loop {
        shared.light().await;
        let (process, store) = shared.process(true);
        let site = || Site {
            actors: Actors::issue("shop").expect("a name"),
            shared: Arc::clone(&shared),
            process: Arc::clone(&process),
        };
        let worker = Worker::new(&store, Actors::issue("worker").expect("a name"))
            .handler(Trips(site()))
            .handler(Legs(site()))
            .machine::<AnyTour>();
        let (of, by) = (Arc::clone(&shared), Arc::clone(&process));
        let worker = if shared.defect == Some(Defect::ClaimsConfined) {
            worker.tool(Service::<true> { shared: of, process: by })
        } else {
            worker.tool(Service::<false> { shared: of, process: by })
        };
        let worker = worker
            .lease(Duration::from_millis(900))
            .sweep(Duration::from_millis(700))
            .backoff(Duration::from_millis(50), Duration::from_millis(400))
            .without_jitter()
            .grace(Duration::from_millis(300))
            .concurrency(3)
            .attempts(3);
        let (stop, stopped) = oneshot::channel::<()>();
        let mut running = Box::pin(tokio::spawn(worker.run_until(async {
            let _ = stopped.await;
        })));
        let life = shared.random().millis(300..4000);
        let life = async {
            tokio::time::sleep(life).await;
            if shared.is_calm() {
                std::future::pending::<()>().await;
            }
        };
        let ends = select(Box::pin(process.died()), Box::pin(life));
        match select(&mut running, ends).await {
            // It could not start, because the store was busy.
            Either::Left(_) => {}
            Either::Right((Either::Left(_), _)) => running.abort(),
            Either::Right((Either::Right(_), _)) if shared.random().permille(500) => {
                shared.ledger().count("stops");
                drop(stop);
                if let Either::Right(_) = select(&mut running, Box::pin(process.died())).await {
                    running.abort();
                }
            }
            Either::Right((Either::Right(_), _)) => {
                shared.crash(&process, "at any moment");
                running.abort();
            }
        }
        // The program does other things after its worker.
        let rest = shared.random().millis(0..2500);
        tokio::time::sleep(rest).await;
        // A process that has ended does nothing more.
        process.die();
        let pause = shared.random().millis(1..600);
        tokio::time::sleep(pause).await;
    }
}

/// Creates a trip. Sometimes a person moves it without a message, past the workers.
async fn create(shared: Arc<Shared>, after: Duration) {
    tokio::time::sleep(after).await;
    let (_, store) = shared.process(false);
    let mut trip = Trip::new();
    // If the answer was lost and a worker has moved it since, the store cannot recognize the
    // commit.
    while !matches!(
        store.create(&mut trip).await,
        Ok(()) | Err(EffectError::Commit(CommitError::AlreadyStored { .. }))
    ) {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let visit = {
        let mut random = shared.random();
        random.permille(300).then(|| random.millis(0..2500))
    };
    if let Some(visit) = visit {
        tokio::time::sleep(visit).await;
        drop(visit_trip(&store, trip.id()).await);
    }
    shared.open.fetch_sub(1, Ordering::AcqRel);
}

/// The item that a person adds without a message.
pub(super) const BY_HAND: u64 = 40;

async fn visit_trip(store: &Store, id: Id) -> Result<(), LoadError> {
    if let (AnyTrip::Collecting(trip), Ok(ann)) = (store.load(id).await?, Human::new("ann")) {
        // A worker may have been faster.
        drop(store.commit(&mut trip.add(BY_HAND, &ann)).await);
    }
    Ok(())
}
