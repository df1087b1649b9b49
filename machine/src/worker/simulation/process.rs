use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use event_listener::Event;
use tokio::time::{Instant, sleep_until};

/// A process with a store handle of its own. It can die and freeze.
#[derive(Debug)]
pub(super) struct Process {
    /// New with each start.
    pub(super) number: usize,
    /// It is a worker; the others only send messages and create machines.
    pub(super) is_worker: bool,
    dead: AtomicBool,
    died: Event,
    /// Until when it is frozen.
    thaws_at: Mutex<Instant>,
}

impl Process {
    pub(super) fn new(number: usize, is_worker: bool) -> Self {
        let thaws_at = Mutex::new(Instant::now());
        Self { number, is_worker, dead: AtomicBool::new(false), died: Event::new(), thaws_at }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    pub(super) fn die(&self) {
        self.dead.store(true, Ordering::Release);
        self.died.notify(usize::MAX);
    }

    pub(super) async fn died(&self) {
        loop {
            let died = self.died.listen();
            if self.is_dead() {
                return;
            }
            died.await;
        }
    }

    /// No call of its store begins or returns for this time.
    pub(super) fn freeze(&self, time: Duration) {
        let mut thaws_at = self.thaws_at.lock().unwrap_or_else(PoisonError::into_inner);
        *thaws_at = (*thaws_at).max(Instant::now() + time);
    }

    pub(super) async fn thawed(&self) {
        loop {
            let thaws_at = *self.thaws_at.lock().unwrap_or_else(PoisonError::into_inner);
            if thaws_at <= Instant::now() {
                return;
            }
            sleep_until(thaws_at).await;
        }
    }
}
