//! A disk that fails at the wrong moments.

use std::time::Duration;

use machine::contract::{Action, Applied, Call, Perform, ToolAnswer};

use crate::{
    capture::{Report, until},
    errand::{Does, Errand, Hold},
    world::World,
};

const FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;
const FULL: i32 = rusqlite::ffi::SQLITE_FULL;

/// A commit is indeterminate, and the next try finds out whether it took effect.
pub(crate) async fn indeterminate(world: &World) {
    let mut errand = Errand::new(world.text("note"));
    fail::cfg("store-committed", &format!("1*return({FSYNC})")).unwrap();
    fail::cfg("store-reopen", &format!("1*return({FSYNC})")).unwrap();
    assert!(world.store.create(&mut errand).await.is_err());
    world.store.create(&mut errand).await.unwrap();
    fail::remove("store-committed");
    fail::remove("store-reopen");
}

pub(crate) fn next_commit_is_full() {
    fail::cfg("store-commit", &format!("1*return({FULL})")).unwrap();
}

/// The disk is full when an outcome is to be written, and for longer when a late one is.
pub(crate) async fn full(world: &World) {
    let _ = world.stored(world.mail(60)).await;
    let service = Fills { text: world.text("sent"), hold: None, commits: 1 };
    world.worker(Does::Opens).other_tools(service).run_until_idle().await.unwrap();

    let (call, handler) = (Hold::default(), Hold::default());
    let mail = world.stored(world.mail(61).timeout_after(Duration::from_millis(20))).await;
    world.errand().await;
    let text = world.text("sent");
    let service = Fills { text, hold: Some(call.clone()), commits: 1000 };
    let worker = world.worker(Does::Holds(handler.clone())).other_tools(service).start();
    handler.is_held().await;
    let id = mail.id().to_string();
    let waits = |report: &Report| report.name == "machine.worker.waits";
    until(move |report| waits(report) && report.get("machine.id") == id).await;
    call.let_go();
    until(|report| report.name == "machine.call.lost").await;
    handler.let_go();
    until(|report| report.get("machine.storage.operation") == "hand_back").await;
    fail::remove("store-commit");
    worker.stop().await.unwrap();
}

struct Fills {
    text: String,
    hold: Option<Hold>,
    commits: u32,
}

impl Perform<Action> for Fills {
    async fn perform(&self, _: &Call<Action>) -> ToolAnswer<Action> {
        if let Some(hold) = &self.hold {
            hold.hold().await;
        }
        fail::cfg("store-commit", &format!("{}*return({FULL})", self.commits)).unwrap();
        Ok(Applied::new(self.text.as_str()))
    }
}

/// A reader uses the file while it is closed.
pub(crate) async fn in_use(world: &World) {
    let reader = rusqlite::Connection::open(world.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").unwrap();
    world.errand().await;
    assert!(world.store.close().await.is_err());
}
