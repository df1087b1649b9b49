//! Facts that a memory does not take.

use machine::{
    observe::{FactExporter, FactSink},
    view::{ExecutionFact, View},
};
use tokio::sync::Notify;

use crate::world::World;

/// Fails with the given error.
struct Fails<'a>(&'a Notify);

impl FactSink for Fails<'_> {
    type Error = String;

    async fn remember(&self, fact: View<ExecutionFact>) -> Result<(), String> {
        self.0.notify_one();
        Err(format!("{fact:?}"))
    }
}

/// A sink that fails, and whose error repeats the fact.
pub(crate) async fn lost(world: &World) {
    let called = Notify::new();
    let remember = FactExporter::new(&world.store, "memory", Fails(&called));
    let done = remember.run_until(called.notified()).await.unwrap();
    assert!(done.failed > 0, "{done:?}");
}
