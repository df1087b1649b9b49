use std::{
    fmt,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use event_listener::Event;
use tokio::time::{Instant, sleep_until};

use crate::store::lock::lock;

/// A process with its own store handle. It can die and freeze.
pub(super) struct Process {
    /// New with each start.
    pub(super) number: usize,
    /// It is a worker; the others only send messages and create machines.
    pub(super) is_worker: bool,
    dead: AtomicBool,
    died_at: OnceLock<Instant>,
    /// The action of the system when it ends.
    on_end: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// A write that it asked for last is not finished: until then the system has not ended it.
    is_writing: AtomicBool,
    died: Event,
    /// Until when it is frozen.
    thaws_at: Mutex<Instant>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Process {
    pub(super) fn new(number: usize, is_worker: bool) -> Self {
        let thaws_at = Mutex::new(Instant::now());
        Self {
            number,
            is_worker,
            dead: AtomicBool::new(false),
            died_at: OnceLock::new(),
            on_end: OnceLock::new(),
            is_writing: AtomicBool::new(false),
            died: Event::new(),
            thaws_at,
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Does this when it ends.
    pub(super) fn on_end(&self, act: impl Fn() + Send + Sync + 'static) {
        drop(self.on_end.set(Box::new(act)));
    }

    /// For how long it has been dead.
    pub(super) fn dead_for(&self) -> Option<Duration> {
        self.died_at.get().map(Instant::elapsed)
    }

    pub(super) fn die(&self) {
        self.dead.store(true, Ordering::Release);
        self.died_at.get_or_init(Instant::now);
        self.end();
        self.died.notify(usize::MAX);
    }

    pub(super) fn writes(&self, is_writing: bool) {
        self.is_writing.store(is_writing, Ordering::Release);
        self.end();
    }

    fn end(&self) {
        if self.is_dead()
            && !self.is_writing.load(Ordering::Acquire)
            && let Some(act) = self.on_end.get()
        {
            act();
        }
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
        let mut thaws_at = lock(&self.thaws_at);
        *thaws_at = (*thaws_at).max(Instant::now() + time);
    }

    pub(super) async fn thawed(&self) {
        loop {
            let thaws_at = *lock(&self.thaws_at);
            if thaws_at <= Instant::now() {
                return;
            }
            sleep_until(thaws_at).await;
        }
    }
}
