//! The machines of these tests, in addition to executions of the library.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};
use serde::{Deserialize, Serialize};

/// A counter whose history grows without limit.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Meter {
    /// Nothing was counted.
    #[initial]
    #[on(add(last, total = 1) => Counting)]
    Empty,
    /// It counts.
    #[on(add(last, total = total + 1) => Self)]
    #[on(lock(last) => Locked)]
    #[on(finish(last) => Finished)]
    Counting { total: u64, last: String },
    /// It does not count now.
    #[stable]
    #[on(unlock(last) => Counting)]
    Locked { total: u64, last: String },
    /// It never counts again.
    #[terminal]
    Finished { total: u64, last: String },
}

/// A task with time limits: one for a step, and one for the whole of it.
#[machine(
    durable,
    on(give_up(why = format!("{status} took too long")) => Stopped, from = Working,
       by = GraphRunner, after = Duration::from_millis(1000))
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// No worker drives it.
    #[initial]
    #[on(note => Self)]
    #[on(begin(limit_ms, step = 0) => First)]
    #[on(stop(why) => Stopped)]
    Idle,
    /// The first step, which has its own limit.
    #[group(Working)]
    #[on(advance(step = step + 1, score = 0) => Second)]
    #[on(again => Self)]
    #[on(restart => First)]
    #[on(pause => Idle)]
    #[on(skip(step = step + 100, score = 0) => Second, by = GraphRunner,
         after = Duration::from_millis(limit_ms))]
    First { limit_ms: u64, step: u64 },
    /// The second step.
    #[group(Working)]
    #[on(back => First)]
    #[on(rate(score) => Self, guard = positive -> NotPositive)]
    #[on(finish(score) => Done)]
    Second { limit_ms: u64, step: u64, score: i64 },
    /// It was given up.
    #[terminal]
    Stopped { why: String },
    /// It succeeded.
    #[terminal]
    Done { score: i64, step: u64 },
}

/// The score is not positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NotPositive;

impl std::fmt::Display for NotPositive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the score must be positive")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn positive(_: &task::Second, score: &i64) -> Result<(), NotPositive> {
    if *score > 0 { Ok(()) } else { Err(NotPositive) }
}
