use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use event_listener::Event;

use super::{FailedAttempt, Stopping, lease::Leases, settings::Settings};
use crate::{
    actor::{Actors, Senders},
    id::Id,
    store::Store,
};

/// The time for which a machine that needs another program is left to others.
pub(super) const LEFT_TO_OTHERS: Duration = Duration::from_secs(30);

/// The program's callback for failed attempts.
pub(super) struct OnError(pub(super) Box<dyn Fn(&FailedAttempt<'_>) + Send + Sync>);

impl fmt::Debug for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnError")
    }
}

/// The program's callback for the stop of the worker.
pub(super) struct OnStop(pub(super) Box<dyn Fn(&Stopping) + Send + Sync>);

impl fmt::Debug for OnStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnStop")
    }
}

/// The data that the jobs of a worker share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) actors: Arc<Actors>,
    /// The holder of its leases.
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) senders: Senders,
    pub(super) leases: Leases,
    pub(super) on_error: Option<OnError>,
    pub(super) on_stop: Option<OnStop>,
    /// Jobs end after their current step.
    pub(super) stopping: AtomicBool,
    /// Handlers are stopped.
    pub(super) halted: AtomicBool,
    pub(super) halt: Event,
    /// Machines that are left to others: until when, or until there are other news than these.
    pub(super) left: Mutex<BTreeMap<Id, (Duration, u64)>>,
}

impl Shared {
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub(super) fn halt(&self) {
        self.halted.store(true, Ordering::Release);
        self.halt.notify(usize::MAX);
    }

    pub(super) async fn halted(&self) {
        loop {
            let halt = self.halt.listen();
            if self.halted.load(Ordering::Acquire) {
                return;
            }
            halt.await;
        }
    }

    pub(super) fn leave(&self, id: Id, news: u64, time: Duration) {
        let left = (self.store.uptime() + time, news);
        self.left.lock().unwrap_or_else(PoisonError::into_inner).insert(id, left);
    }

    pub(super) fn is_left(&self, id: Id, news: u64) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.store.uptime();
        left.retain(|_, (until, _)| *until > now);
        left.get(&id).is_some_and(|(_, seen)| *seen == news)
    }
}
