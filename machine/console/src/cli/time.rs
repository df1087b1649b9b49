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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_use_their_largest_unit() {
        assert_eq!(relative(0, 59_999), "59 s ago");
        assert_eq!(relative(0, 60_000), "1 min ago");
        assert_eq!(relative(0, 7_200_000), "2 h ago");
        assert_eq!(relative(172_800_000, 0), "in 2 d");
        assert_eq!(relative(i64::MIN, i64::MAX), "213503982334 d ago");
    }
}
