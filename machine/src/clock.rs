//! Time, in milliseconds since the Unix epoch.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, as the journal counts time.
pub type Millis = i64;

/// Now, in milliseconds since the Unix epoch.
///
/// ```
/// assert!(machine::clock::now() > 1_700_000_000_000);
/// ```
#[must_use]
pub fn now() -> Millis {
    // A clock before 1970 or after the year 292 million reads as the nearest end.
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX),
        Err(_) => 0,
    }
}
