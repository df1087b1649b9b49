//! Time in milliseconds since the Unix epoch.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

#[cfg(feature = "store")]
use crate::future::BoxFuture;

/// Milliseconds since the Unix epoch, the unit of time in the journal.
pub type Millis = i64;

/// The clock of a store. Every time that the store writes is by this clock: those of journal
/// entries, deadlines, messages and limits.
///
/// ```
/// use machine::clock::{Clock, Millis};
///
/// /// A fixed clock for tests.
/// #[derive(Debug)]
/// struct Stopped(Millis);
///
/// impl Clock for Stopped {
///     fn now(&self) -> Millis {
///         self.0
///     }
/// }
///
/// assert_eq!(Stopped(1000).now(), 1000);
/// ```
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> Millis;

    /// The time since some moment in the past. It never goes back, and it counts while the computer
    /// is suspended, where the system has such a clock. Leases and timeouts are measured with it.
    fn uptime(&self) -> Duration {
        uptime()
    }

    /// Ends once [`uptime`](Self::uptime) has advanced by this time. Timeouts, leases and delays
    /// wait for it. A clock with its own uptime needs its own `sleep`.
    #[cfg(feature = "store")]
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(sleep(time))
    }
}

/// The longest time between two readings of the clock: timers stop while the computer is
/// suspended, the clock does not.
#[cfg(feature = "store")]
const SLICE: Duration = Duration::from_secs(1);

#[cfg(feature = "store")]
async fn sleep(time: Duration) {
    let started = uptime();
    loop {
        let left = time.saturating_sub(uptime().saturating_sub(started));
        if left.is_zero() {
            return;
        }
        async_io::Timer::after(left.min(SLICE)).await;
    }
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        now()
    }
}

/// The current time in milliseconds since the Unix epoch.
///
/// ```
/// assert!(machine::clock::now() > 1_700_000_000_000);
/// ```
#[must_use]
pub fn now() -> Millis {
    // Times before 1970 or after the year 292 million are clamped.
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX),
        Err(_) => 0,
    }
}

/// The time that is this long before another one.
#[cfg(feature = "store")]
pub(crate) fn earlier(than: Millis, time: Duration) -> Millis {
    than.saturating_sub(Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX))
}

/// The time that is this much later than another one.
pub(crate) fn later(than: Millis, time: Duration) -> Millis {
    than.saturating_add(Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX))
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// 0 if the clock went back.
pub(crate) fn millis_between(start: Millis, end: Millis) -> u64 {
    u64::try_from(end.saturating_sub(start)).unwrap_or(0)
}

/// A length of time in its largest unit, such as `3 min`.
#[cfg(feature = "store")]
#[must_use]
pub fn length(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The clock behind [`Clock::uptime`].
#[cfg(all(feature = "store", any(target_os = "linux", target_os = "android")))]
pub(crate) fn uptime() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // The time since the start of the machine is not negative.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Elsewhere `Instant` is the only clock.
#[cfg(not(all(feature = "store", any(target_os = "linux", target_os = "android"))))]
pub(crate) fn uptime() -> Duration {
    use std::{sync::OnceLock, time::Instant};

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
