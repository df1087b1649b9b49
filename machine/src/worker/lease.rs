use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use event_listener::Event;

use super::settings::{Settings, sleep_until};
use crate::{
    clock::{later, millis},
    id::Id,
    store::{Store, inbox::protocol, lock::lock},
    telemetry,
};

/// A lease, as its holder knows it. The holder stops before others may take over: at two thirds of
/// the lease after it was last confirmed, by a clock that counts while the computer is suspended.
#[derive(Debug)]
pub(super) struct HeldLease {
    pub(super) id: Id,
    pub(super) token: u64,
    /// Until when the holder may rely on it, in milliseconds of the uptime; 0 when it is
    /// lost.
    valid_until: AtomicU64,
    /// Until when it is renewed, in milliseconds of the uptime. Code of the program that
    /// runs longer may block its thread, so that nothing can stop it: then another worker takes
    /// over.
    renewed_until: AtomicU64,
    changed: Event,
}

/// While it exists, a lease is renewed only for a limited time.
#[derive(Debug)]
#[must_use = "dropping it ends the limit"]
pub(super) struct Limited(Arc<HeldLease>);

impl Drop for Limited {
    fn drop(&mut self) {
        self.0.renewed_until.store(u64::MAX, Ordering::Release);
    }
}

impl HeldLease {
    /// `asked_at` is from before the store was asked.
    pub(super) fn new(id: Id, token: u64, asked_at: Duration, settings: &Settings) -> Arc<Self> {
        let valid_until = AtomicU64::new(millis(asked_at + settings.lease * 2 / 3));
        let renewed_until = AtomicU64::new(u64::MAX);
        Arc::new(Self { id, token, valid_until, renewed_until, changed: Event::new() })
    }

    /// Lets the lease end after the time that code of the program may take.
    pub(super) fn limit(self: &Arc<Self>, store: &Store, settings: &Settings) -> Limited {
        let limit = settings.handler_limit.map(|limit| millis(store.inner.clock.uptime() + limit));
        self.renewed_until.store(limit.unwrap_or(u64::MAX), Ordering::Release);
        Limited(Arc::clone(self))
    }

    pub(super) fn is_valid(&self, store: &Store) -> bool {
        millis(store.inner.clock.uptime()) < self.valid_until.load(Ordering::Acquire)
    }

    pub(super) fn lose(&self) {
        self.valid_until.store(0, Ordering::Release);
        self.changed.notify(usize::MAX);
    }

    pub(super) async fn wait_for_loss(&self, store: &Store) {
        loop {
            let changed = self.changed.listen();
            let until = self.valid_until.load(Ordering::Acquire);
            if millis(store.inner.clock.uptime()) >= until {
                return;
            }
            let until = Duration::from_millis(until);
            futures_util::future::select(changed, Box::pin(sleep_until(store, until))).await;
        }
    }

    async fn renew(&self, store: &Store, settings: &Settings) {
        let asked_at = store.inner.clock.uptime();
        if millis(asked_at) >= self.renewed_until.load(Ordering::Acquire) {
            return;
        }
        // The job may not have seen yet that it ended: after a freeze, both are due at once.
        if !self.is_valid(store) {
            return self.lose();
        }
        let until = later(store.now(), settings.lease);
        let event = protocol::Event::Renew { token: self.token, until };
        match store.under_lease(self.id, event).await {
            Ok(Some(_)) => {
                let valid_until = millis(asked_at + settings.lease * 2 / 3);
                // One that was lost in the meantime stays lost.
                let raise = |now: u64| (now != 0).then_some(now.max(valid_until));
                let _ = self.valid_until.fetch_update(Ordering::AcqRel, Ordering::Acquire, raise);
            }
            Ok(None) => self.lose(),
            // The lease expires if the error persists.
            Err(error) => {
                telemetry::WorkerWaits { operation: "renew", error: error.class() }.emit();
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<Vec<Weak<HeldLease>>>);

impl Leases {
    pub(super) fn add(&self, lease: &Arc<HeldLease>) {
        lock(&self.0).push(Arc::downgrade(lease));
    }

    /// Returns whether the lease of a machine was lost while its job still runs, because it blocks
    /// its thread.
    pub(super) fn is_lost(&self, id: Id, store: &Store) -> bool {
        let held: Vec<_> = lock(&self.0).iter().filter_map(Weak::upgrade).collect();
        let mut of_machine = held.iter().filter(|lease| lease.id == id).peekable();
        of_machine.peek().is_some() && of_machine.all(|lease| !lease.is_valid(store))
    }

    /// Keeps them alive for as long as it is polled.
    pub(super) async fn heartbeat(&self, store: &Store, settings: &Settings) {
        loop {
            store.inner.clock.sleep(settings.lease / 3).await;
            let leases: Vec<_> = {
                let mut all = lock(&self.0);
                all.retain(|lease| lease.strong_count() > 0);
                all.iter().filter_map(Weak::upgrade).collect()
            };
            let renewals = leases.iter().map(|lease| lease.renew(store, settings));
            futures_util::future::join_all(renewals).await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
