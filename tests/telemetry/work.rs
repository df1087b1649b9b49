//! Workers: those that fail, hang, lose their leases, and stop.

use std::time::Duration;

use machine::{
    contract::Applied,
    store::{OpenOptions, Store},
    worker::Worker,
};
use tokio::time::{sleep, timeout};

use crate::{
    errand::{Clerk, Does},
    world::{Frozen, World},
};

const LONG: Duration = Duration::from_secs(30);

/// What fails, what is set aside, and what a worker cannot do.
pub(crate) async fn failures(world: &World) {
    world.errand().await;
    let worker = world.worker(Does::Fails(world.text("the handler says")));
    worker.run_until_idle().await.unwrap();
    world.errand().await;
    let worker = world.worker(Does::PanicsLater);
    let _ = timeout(Duration::from_millis(300), worker.run_until_idle()).await;

    // A worker that has other tools.
    let _ = world.stored(world.read(50)).await;
    let worker = world.worker(Does::Opens).tool::<Nothing>(NoService);
    worker.run_until_idle().await.unwrap();
}

/// A worker is asked to stop in the middle of a handler.
pub(crate) async fn stopped(world: &World) {
    world.errand().await;
    let worker = world.worker(Does::Slowly(LONG)).grace(Duration::from_millis(10)).start();
    sleep(Duration::from_millis(100)).await;
    worker.stop().await.unwrap();
}

/// Workers end in the middle of a handler, and others take over, at last alone.
pub(crate) async fn cut_short(world: &World) {
    world.errand().await;
    for _ in 0..2 {
        let worker = world.worker(Does::Slowly(LONG)).attempts(5);
        assert!(timeout(Duration::from_millis(200), worker.run_until_idle()).await.is_err());
        sleep(Duration::from_millis(110)).await;
    }
    world.worker(Does::Opens).attempts(5).run_until_idle().await.unwrap();
}

/// A worker whose clock stands still does not know that its lease has ended.
pub(crate) async fn lost_lease(world: &World) {
    world.errand().await;
    let frozen: Store = OpenOptions::new().clock(Frozen).sqlite(world.path()).await.unwrap();
    let actors = machine::actor::Actors::issue(&world.text("frozen")).unwrap();
    let slow = Clerk(Does::Slowly(Duration::from_millis(400)));
    let frozen = Worker::new(&frozen, actors).handler(slow).lease(Duration::from_millis(100));
    let running = frozen.grace(LONG).start();
    sleep(Duration::from_millis(250)).await;
    world.worker(Does::Opens).run_until_idle().await.unwrap();
    sleep(Duration::from_millis(300)).await;
    // On its clock it would never end by itself.
    let _ = timeout(Duration::from_millis(300), running.stop()).await;
}

/// A tool that nothing calls.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Nothing;

impl machine::contract::Tool for Nothing {
    const SERVICE: &'static str = "nothing";
    const METHOD: &'static str = "do";
    type Effect = machine::contract::Irreversible;
    type Receipt = String;
}

struct NoService;

impl machine::contract::Perform<Nothing> for NoService {
    async fn perform(&self, _: &machine::contract::Call<Nothing>) -> machine::contract::Answer {
        Ok(Applied::new("nothing"))
    }
}
