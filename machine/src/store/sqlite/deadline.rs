use std::{
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::inspect::wal;
use crate::store::error::{OpenError, Unavailable};

/// The time until which the whole of opening waits for other processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenDeadline(Option<Instant>);

/// The time that opening may take beyond its deadline if nothing shows that it waits: its own work
/// may take a while.
const SLACK: Duration = Duration::from_secs(1);

/// The longest single wait for the result of another thread.
const STEP: Duration = Duration::from_millis(50);

/// The minimum speed of reading the log, if this process recovers it: bytes per millisecond.
const SLOW: u64 = 16 * 1024;

impl OpenDeadline {
    /// It never passes if the time is too long for the clock.
    pub(super) fn after(busy_ms: u64) -> Self {
        Self(Instant::now().checked_add(Duration::from_millis(busy_ms)))
    }

    /// The time that is left, as a busy timeout of SQLite.
    pub(super) fn left_ms(self) -> u64 {
        let left = self.0.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(u64::MAX, |left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    /// Waits for a moment; busy if there is no time left for that.
    pub(super) fn pause(self) -> Result<(), OpenError> {
        if self.0.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Unavailable::Busy.into());
        }
        thread::sleep(Duration::from_millis(5));
        Ok(())
    }

    /// Opens or first reads a file that another process may be about to recover. If that process is
    /// frozen at certain moments, SQLite itself retries for ten seconds, regardless of the busy
    /// timeout. Then this is busy, and the thread ends later, so it must not write to a store.
    pub(super) fn bound<T: Send + 'static>(
        self,
        path: &Path,
        read: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
    ) -> Result<T, OpenError> {
        let (answer, result) = mpsc::sync_channel(1);
        // Sending fails if the time is over.
        let work = move || drop(answer.send(read()));
        let thread = thread::Builder::new().name("machine-first-read".to_owned());
        thread.spawn(work).map_err(Unavailable::other)?;
        let Some(deadline) = self.0 else {
            return result.recv().unwrap_or_else(|_| Err(Unavailable::Stopped.into()));
        };
        let log = std::fs::metadata(wal(path)).map_or(0, |log| log.len());
        let until = deadline + SLACK + Duration::from_millis(log / SLOW);
        let mut left = until.saturating_duration_since(Instant::now());
        loop {
            // In small steps: while this process is frozen itself, time is not up for the other
            // thread.
            let step = left.min(STEP);
            left -= step;
            match result.recv_timeout(step) {
                Ok(read) => return read,
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout) => return Err(Unavailable::Busy.into()),
                Err(RecvTimeoutError::Disconnected) => return Err(Unavailable::Stopped.into()),
            }
        }
    }
}
