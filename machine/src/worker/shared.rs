use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{
    FailedAttempt,
    lease::Leases,
    settings::Settings,
    task::Kept,
    until::{Stop, Until},
};
use crate::{
    actor::{Actors, Senders},
    id::Id,
    store::{Store, lock::lock},
};

/// The time for which a machine that needs another program is left to others.
pub(super) const SKIP_FOR: Duration = Duration::from_secs(30);

pub(super) struct Hook<F: ?Sized>(pub(super) Box<F>);

impl<F: ?Sized> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

pub(super) type OnError = Hook<dyn Fn(&FailedAttempt<'_>) + Send + Sync>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) actors: Arc<Actors>,
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) senders: Senders,
    pub(super) leases: Leases,
    pub(super) on_error: Option<OnError>,
    pub(super) until: Until,
    /// The worker looks for no more work.
    pub(super) ended: AtomicBool,
    /// Handlers are stopped.
    pub(super) halt: Stop,
    /// Machines that are left to others: until when, or until the revision changes.
    pub(super) left: Mutex<BTreeMap<Id, (Duration, u64)>>,
    /// What handlers keep for their next call, by machine.
    pub(super) kept: Mutex<BTreeMap<Id, Kept>>,
}

impl Shared {
    /// Jobs end after their current step. The loop may notice a request to stop later than they.
    pub(super) fn is_stopping(&self) -> bool {
        self.until.is_over() || self.ended.load(Ordering::Acquire)
    }

    /// Keeps a job at work on a machine that this worker alone makes ready again, within this time:
    /// a worker that runs until nothing is ready does not end before.
    pub(super) async fn rest(&self, time: Duration) {
        if matches!(self.until, Until::Idle) {
            self.store.inner.clock.sleep(time).await;
        }
    }

    /// Takes what the handler has kept for this machine, and keeps this instead.
    pub(super) fn kept(&self, id: Id, kept: Option<Kept>) -> Option<Kept> {
        let mut all = lock(&self.kept);
        match kept {
            Some(kept) => all.insert(id, kept),
            None => all.remove(&id),
        }
    }

    pub(super) fn leave(&self, id: Id, revision: u64, time: Duration) {
        let left = (self.store.inner.clock.uptime() + time, revision);
        lock(&self.left).insert(id, left);
    }

    pub(super) fn is_left(&self, id: Id, revision: u64) -> bool {
        let mut left = lock(&self.left);
        let now = self.store.inner.clock.uptime();
        left.retain(|_, (until, _)| *until > now);
        left.get(&id).is_some_and(|(_, seen)| *seen == revision)
    }
}
