use std::time::Duration;

use crate::{clock::Millis, id::Id, store::Store};

/// An odd number near 2^128 divided by the golden ratio: products with it have well mixed upper bits.
const GOLDEN: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

/// The settings of a worker.
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
    pub(super) fn lease_ms(&self) -> Millis {
        Millis::try_from(self.lease.as_millis()).unwrap_or(Millis::MAX)
    }

    /// The delay after this many attempts, doubled each time, and up to a fifth shorter, so that machines
    /// that failed together are not all tried again together. It depends on the machine and the attempt only.
    pub(super) fn delay(&self, id: Id, attempts: u32) -> Millis {
        let factor = 1u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        let delay = self.first_delay.saturating_mul(factor).min(self.longest_delay);
        let delay = Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX);
        if !self.jitter {
            return delay;
        }
        let hash = id.as_u128().wrapping_add(u128::from(attempts)).wrapping_mul(GOLDEN) >> 64;
        let jitter = hash % (u128::from(delay.unsigned_abs() / 5) + 1);
        delay - Millis::try_from(jitter).unwrap_or(0)
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Ends at this time of [`Store::uptime`].
pub(super) async fn sleep_until(store: &Store, until: Duration) {
    store.sleep(until.saturating_sub(store.uptime())).await;
}
