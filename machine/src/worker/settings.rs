use std::time::Duration;

use super::Worker;
use crate::{
    clock::{Millis, later},
    id::Id,
    store::Store,
};

/// An odd number near 2^128 divided by the golden ratio: products with it have well mixed upper
/// bits.
const GOLDEN: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

const SHORTEST_LEASE: Duration = Duration::from_millis(100);
const SHORTEST_SWEEP: Duration = Duration::from_millis(10);

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) lease: Duration,
    pub(super) concurrency: usize,
    pub(super) attempts: u32,
    pub(super) first_delay: Duration,
    pub(super) longest_delay: Duration,
    pub(super) sweep: Duration,
    pub(super) grace: Duration,
    pub(super) handler_limit: Option<Duration>,
    /// After this many steps a machine goes to the end of the queue.
    pub(super) steps: u32,
    /// Delays differ from machine to machine.
    pub(super) jitter: bool,
    /// It ends after the first entry in a journal.
    pub(super) single_step: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            concurrency: 16,
            attempts: 5,
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_mins(5),
            sweep: Duration::from_secs(1),
            grace: Duration::from_secs(10),
            handler_limit: None,
            steps: 32,
            jitter: true,
            single_step: false,
        }
    }
}

impl Settings {
    /// The delay after this many attempts, doubled each time, and up to a fifth shorter, so that
    /// machines that failed together are not all tried again together. It depends on the machine
    /// and the attempt only.
    pub(super) fn delay(&self, id: Id, attempts: u32) -> Millis {
        let factor = 1u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        let delay = self.first_delay.saturating_mul(factor).min(self.longest_delay);
        let delay = later(0, delay);
        if !self.jitter {
            return delay;
        }
        let hash = id.as_u128().wrapping_add(u128::from(attempts)).wrapping_mul(GOLDEN) >> 64;
        let jitter = hash % (u128::from(delay.unsigned_abs() / 5) + 1);
        delay - Millis::try_from(jitter).unwrap_or(0)
    }
}

impl Worker {
    /// Sets the duration of a lease; by default 30 s, and at least 100 ms. The worker renews a
    /// lease after a third of its duration, and stops after two thirds without an answer of the
    /// store. When a process ends, others on the same host take over with their next
    /// [sweep](Self::sweep), by default within a second; a frozen process is noticed when its
    /// leases end. Short leases cost writes: one for each machine in each third of a lease.
    pub fn lease(mut self, time: Duration) -> Self {
        self.settings.lease = time.max(SHORTEST_LEASE);
        self
    }

    /// Sets the number of machines that the worker drives at the same time; by default 16.
    pub fn concurrency(mut self, machines: usize) -> Self {
        self.settings.concurrency = machines.max(1);
        self
    }

    /// Sets the number of attempts after which a handler, a deadline or a message is set aside; by
    /// default 5.
    ///
    /// An attempt also counts if it was interrupted: the process ended, or the lease was lost.
    /// After two such attempts, a machine runs in isolation, with nothing else running, so that a
    /// machine that kills its process affects no others.
    pub fn attempts(mut self, max_attempts: u32) -> Self {
        self.settings.attempts = max_attempts.max(1);
        self
    }

    /// Sets the delay after the first failure, and the longest delay; by default 1 s and 5 min.
    /// Each delay is up to a fifth shorter, by an amount that differs between machines.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        (self.settings.first_delay, self.settings.longest_delay) = (first, longest);
        self
    }

    /// Each delay is exact, for schedules that are replayed: ids differ from run to run.
    #[cfg(test)]
    pub(super) fn without_jitter(mut self) -> Self {
        self.settings.jitter = false;
        self
    }

    /// Sets the interval at which the worker polls for work, and for workers whose process has
    /// ended; by default every second, and at most every 10 ms. A poll takes a few indexed reads,
    /// however many machines wait.
    pub fn sweep(mut self, time: Duration) -> Self {
        self.settings.sweep = time.max(SHORTEST_SWEEP);
        self
    }

    /// Sets the time limit of a handler; by default none. A handler that exceeds it is stopped at
    /// its next `.await`, which counts as a failed attempt. A handler that blocks its thread cannot
    /// be stopped: its lease is no longer renewed, so another worker takes over, and its result is
    /// discarded. Calls of tools have separate timeouts.
    pub fn handler_limit(mut self, time: Duration) -> Self {
        self.settings.handler_limit = Some(time);
        self
    }

    /// Sets how long [`Running::stop`](super::Running::stop) waits for handlers and calls; by
    /// default 10 s. Then handlers are stopped, and other workers begin their states again; soon
    /// after, the worker no longer waits for handlers that block their thread. Calls of tools
    /// continue as tasks of the runtime, so that their receipts are kept.
    pub fn grace(mut self, time: Duration) -> Self {
        self.settings.grace = time;
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn single_step(mut self) -> Self {
        (self.settings.concurrency, self.settings.steps) = (1, 1);
        self.settings.single_step = true;
        self
    }
}

pub(super) async fn sleep_until(store: &Store, until: Duration) {
    let clock = &store.inner.clock;
    clock.sleep(until.saturating_sub(clock.uptime())).await;
}
