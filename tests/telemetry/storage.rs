//! A disk that fails at the wrong moments, and functions that panic.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use machine::{
    contract::{Action, Answer, Applied, BoxFuture, Call, Perform},
    worker::Doorbell,
};
use tokio::time::timeout;

use crate::{
    errand::{Does, Errand},
    world::World,
};

const FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;
const FULL: i32 = rusqlite::ffi::SQLITE_FULL;

/// Nobody knows whether a commit took place, and the next try finds out.
pub(crate) async fn indeterminate(world: &World) {
    let mut errand = Errand::new(world.text("note"));
    fail::cfg("store-committed", &format!("1*return({FSYNC})")).unwrap();
    fail::cfg("store-reopen", &format!("1*return({FSYNC})")).unwrap();
    assert!(world.store.create(&mut errand).await.is_err());
    world.store.create(&mut errand).await.unwrap();
    fail::remove("store-committed");
    fail::remove("store-reopen");
}

/// The disk is full when an outcome is to be written.
pub(crate) async fn full(world: &World) {
    let _ = world.stored(world.mail(60)).await;
    let service = Fills { text: world.text("sent"), takes: Duration::ZERO, commits: 1 };
    let worker = world.worker(Does::Opens).lease(Duration::from_secs(30)).other_tools(service);
    worker.run_until_idle().await.unwrap();

    // Late, and for longer.
    let _ = world.stored(world.mail(61).timeout_after(Duration::from_millis(20))).await;
    let takes = Duration::from_millis(100);
    let service = Fills { text: world.text("sent"), takes, commits: 1000 };
    world.errand().await;
    let slow = Does::Slowly(Duration::from_millis(200));
    let worker = world.worker(slow).lease(Duration::from_secs(1)).other_tools(service);
    let _ = timeout(Duration::from_millis(700), worker.run_until_idle()).await;
    fail::remove("store-commit");
}

struct Fills {
    text: String,
    takes: Duration,
    commits: u32,
}

impl Perform<Action> for Fills {
    async fn perform(&self, _: &Call<Action>) -> Answer {
        tokio::time::sleep(self.takes).await;
        fail::cfg("store-commit", &format!("{}*return({FULL})", self.commits)).unwrap();
        Ok(Applied::new(self.text.as_str()))
    }
}

/// A doorbell panics, and the file is gone.
pub(crate) async fn gone(world: &World) {
    let worker =
        world.worker(Does::Opens).doorbell(Broken(world.text("broken"), AtomicBool::new(true)));
    world.errand().await;
    worker.run_until_idle().await.unwrap();
    world.store.close().await.unwrap();
    std::fs::remove_file(world.path()).unwrap();
}

struct Broken(String, AtomicBool);

impl Doorbell for Broken {
    fn ring(&self) {
        // Once is enough.
        let is_first = self.1.swap(false, Ordering::Relaxed);
        assert!(!is_first, "{}", self.0);
    }

    fn listen(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}
