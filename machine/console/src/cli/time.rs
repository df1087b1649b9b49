use jiff::{Timestamp, tz::TimeZone};

use machine::clock::{Millis, length};

/// The local time, such as `2026-03-01 09:30:00`.
pub(super) fn local(at: Millis) -> String {
    match Timestamp::from_millisecond(at) {
        Ok(at) => at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{at} ms since the Unix epoch"),
    }
}

/// The distance to now, such as `3 min ago`, or `in 3 min`.
pub(super) fn relative(at: Millis, now: Millis) -> String {
    let length = length(at.abs_diff(now));
    if at > now { format!("in {length}") } else { format!("{length} ago") }
}

/// The time from one entry to a later one, or that the clock was set back in between.
pub(super) fn passed(from: Millis, to: Millis) -> String {
    let length = length(from.abs_diff(to));
    if to < from { format!("the clock went back by {length}") } else { length }
}

/// The local time of an entry. It says so if the clock was set back since the entry before it, or
/// since this one.
pub(super) fn dated(at: Millis, before: Option<Millis>, now: Millis) -> String {
    let back = before.filter(|before| at < *before).map(|before| passed(before, at));
    let ahead = (now < at).then(|| relative(at, now));
    [Some(local(at)), back, ahead].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
