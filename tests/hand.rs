//! A clock that tests control.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::clock::{Clock, Millis};

/// A clock that stands still until a test moves it.
#[derive(Debug, Clone)]
pub struct Hand(Arc<AtomicI64>);

/// When the clocks of tests start.
pub const START: Millis = 1_000_000;

impl Hand {
    /// A clock that shows this time.
    #[must_use]
    pub fn at(now: Millis) -> Self {
        Self(Arc::new(AtomicI64::new(now)))
    }

    /// Sets the time.
    pub fn set(&self, now: Millis) {
        self.0.store(now, Ordering::SeqCst);
    }

    /// Moves the time on.
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(by, Ordering::SeqCst);
    }

    /// Lets this time pass.
    pub fn pass(&self, time: Duration) {
        self.advance(time.as_millis().try_into().unwrap());
    }
}

impl Default for Hand {
    fn default() -> Self {
        Self::at(START)
    }
}

impl Clock for Hand {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}
