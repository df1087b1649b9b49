//! Workers: those that fail, hang, lose their leases, and stop.

use std::time::Duration;

use machine::{
    actor::Actors,
    clock::Millis,
    contract::{Answer, Applied, Call, Irreversible, Perform, Tool},
    store::OpenOptions,
    worker::Worker,
};
use serde::{Deserialize, Serialize};

use crate::{
    errand::{Clerk, Does, Errand, Hold},
    world::{Frozen, World},
};

/// A handler that waits, failures, machines that are set aside, and work that no worker can do.
pub(crate) async fn failures(world: &World) {
    world.errand().await;
    world.worker(Does::Rests).run_until_idle().await.unwrap();
    world.hand.advance(AN_HOUR);
    world.worker(Does::Opens).run_until_idle().await.unwrap();
    world.errand().await;
    let worker = world.worker(Does::Fails(world.text("the handler says")));
    worker.run_until_idle().await.unwrap();
    world.errand().await;
    world.worker(Does::PanicsLater).run_until_idle().await.unwrap();

    // A worker that has other tools.
    let _ = world.stored(world.read(50)).await;
    let worker = world.worker(Does::Opens).tool::<Nothing>(NoService);
    worker.run_until_idle().await.unwrap();
}

/// A handler moves its machine on while a child of the state has not ended.
pub(crate) async fn cancelled(world: &World) {
    let (id, mut child) = (world.errand().await, Errand::new(world.text("note")));
    world.store.batch().create_child(id, &mut child).write().await.unwrap();
    world.worker(Does::Opens).run_until_idle().await.unwrap();
}

/// No worker has a handler for what waits.
pub(crate) async fn undriven(world: &World) {
    world.errand().await;
    world.hand.advance(AN_HOUR);
    let nothing = Worker::new(&world.store, Actors::issue(&world.text("nothing")).unwrap());
    nothing.run_until_idle().await.unwrap();
}

/// A handler waits for nothing, and a later worker says so.
pub(crate) async fn stuck(world: &World) {
    world.errand().await;
    world.worker(Does::Waits).run_until_idle().await.unwrap();
    world.hand.advance(AN_HOUR);
    world.worker(Does::Opens).run_until_idle().await.unwrap();
}

/// A worker that cannot start says so at once, and not only to the one who stops it.
pub(crate) async fn not_started(world: &World) {
    world.store.close().await.unwrap();
    world.worker(Does::Opens).start().stop().await.unwrap_err();
}

/// A worker is asked to stop in the middle of a handler.
pub(crate) async fn stopped(world: &World) {
    world.errand().await;
    let hold = Hold::default();
    let worker = world.worker(Does::Holds(hold.clone())).grace(Duration::from_millis(10)).start();
    hold.is_held().await;
    worker.stop().await.unwrap();
}

/// Workers end in the middle of a handler, and others take over, at last alone.
pub(crate) async fn cut_short(world: &World) {
    world.errand().await;
    for _ in 0..2 {
        let hold = Hold::default();
        let worker = world.worker(Does::Holds(hold.clone())).attempts(5);
        tokio::select! {
            ended = worker.run_until_idle() => panic!("{ended:?}"),
            () = hold.is_held() => {}
        }
        world.hand.advance(AN_HOUR);
    }
    world.worker(Does::Opens).attempts(5).run_until_idle().await.unwrap();
}

/// A worker whose clock stands still does not know that its lease has ended.
pub(crate) async fn lost_lease(world: &World) {
    world.errand().await;
    let hold = Hold::default();
    let frozen = OpenOptions::new().clock(Frozen).sqlite(world.path()).await.unwrap();
    let actors = Actors::issue(&world.text("frozen")).unwrap();
    let frozen = Worker::new(&frozen, actors).handler(Clerk(Does::Holds(hold.clone()))).start();
    hold.is_held().await;
    world.hand.advance(AN_HOUR);
    world.worker(Does::Opens).run_until_idle().await.unwrap();
    hold.let_go();
    frozen.stop().await.unwrap();
}

/// Longer than any lease, in milliseconds.
const AN_HOUR: Millis = 3_600_000;

/// A tool that nothing calls.
#[derive(Debug, Serialize, Deserialize)]
struct Nothing;

impl Tool for Nothing {
    const SERVICE: &'static str = "nothing";
    const METHOD: &'static str = "do";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;
}

struct NoService;

impl Perform<Nothing> for NoService {
    async fn perform(&self, _: &Call<Nothing>) -> Answer {
        Ok(Applied::new("nothing"))
    }
}
