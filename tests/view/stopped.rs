//! Stores whose clock stands still, so that views from different times are equal.

use machine::{
    clock::{Clock, Millis},
    store::{OpenOptions, Store},
};

#[derive(Debug)]
struct Stopped(Millis);

impl Clock for Stopped {
    fn now(&self) -> Millis {
        self.0
    }
}

/// A store in memory, and one in a file.
pub(crate) async fn both() -> (Vec<Store>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let now = machine::clock::now() + 1_000;
    let options = OpenOptions::new().clock(Stopped(now));
    let file = options.sqlite(folder.path().join("agent.db")).await.unwrap();
    (vec![options.memory(), file], folder)
}
