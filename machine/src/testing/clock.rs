use std::time::Duration;

use tokio::time::Instant;

use crate::{
    clock::{Clock, Millis, later, now},
    future::BoxFuture,
};

/// The time of a tokio runtime, as the clock of a store. In a paused runtime it is virtual.
///
/// It starts at the time of the system clock.
///
/// ```
/// use std::time::Duration;
/// use machine::clock::Clock;
/// use machine::testing::TestClock;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let clock = TestClock::start();
/// let before = clock.now();
/// tokio::time::advance(Duration::from_secs(5)).await;
/// assert_eq!(clock.now(), before + 5000);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TestClock {
    started: Instant,
    started_at: Millis,
}

impl TestClock {
    /// A clock that starts now.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its timer enabled.
    #[must_use]
    pub fn start() -> Self {
        Self { started: Instant::now(), started_at: now() }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        later(self.started_at, self.uptime())
    }

    fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
