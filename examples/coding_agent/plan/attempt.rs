//! Attempts at a job that have failed, and that its worker does not make.

use std::time::Duration;

use machine::observe::Detail;

/// A worker of another program that has died loses the job after 30 s.
const HELD: &str = "a worker that may still live holds it: try again in 30 s";

/// The time from now until a worker, which has nothing to do, tries again; `None` if it does not:
/// what was due when it began, it would have done.
pub fn pause(left: &Detail, began: i64, now: i64) -> Option<Duration> {
    let at = left.trouble.as_ref()?.retry_at.filter(|at| *at > began)?;
    Some(Duration::from_millis(u64::try_from(at.saturating_sub(now)).unwrap_or_default()))
}

/// Why a worker has left a job alone: its handler never waits.
pub fn why_left(left: &Detail) -> &str {
    left.trouble.as_ref().map_or(HELD, |trouble| trouble.reason.as_str())
}
