use std::time::Duration;

/// Optional checks before a waiting machine is resumed, in addition to the mandatory ones.
///
/// ```
/// use std::time::Duration;
/// use machine::store::Resume;
///
/// let checks = Resume::default().max_age(Duration::from_secs(3600)).resuming(1);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resume {
    pub(super) max_age: Option<Duration>,
    pub(super) resuming: Option<usize>,
}

impl Resume {
    /// Refuses a machine that has waited longer than `limit`.
    #[must_use]
    pub fn max_age(mut self, limit: Duration) -> Self {
        self.max_age = Some(limit);
        self
    }

    /// Declares how many machines of the session are being resumed. Logs a warning through `tracing`
    /// if that differs from the number that wait.
    #[must_use]
    pub fn resuming(mut self, count: usize) -> Self {
        self.resuming = Some(count);
        self
    }
}
