use std::time::Duration;

use crate::{clock::Millis, store::Store};

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
            single_step: false,
        }
    }
}

impl Settings {
    pub(super) fn lease_ms(&self) -> Millis {
        Millis::try_from(self.lease.as_millis()).unwrap_or(Millis::MAX)
    }

    /// The delay after this many attempts, doubled each time.
    pub(super) fn delay(&self, attempts: u32) -> Millis {
        let factor = 1u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        let delay = self.first_delay.saturating_mul(factor).min(self.longest_delay);
        Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX)
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Ends at this time of [`Store::uptime`].
pub(super) async fn sleep_until(store: &Store, until: Duration) {
    store.sleep(until.saturating_sub(store.uptime())).await;
}
