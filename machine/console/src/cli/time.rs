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

/// The local time of an entry. It says so if the clock was set back since the entry before it, or since this one.
pub(super) fn dated(at: Millis, before: Option<Millis>, now: Millis) -> String {
    let back = before.filter(|before| at < *before).map(|before| passed(before, at));
    let ahead = (now < at).then(|| relative(at, now));
    [Some(local(at)), back, ahead].into_iter().flatten().collect::<Vec<_>>().join(", ")
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

    #[test]
    fn a_clock_that_went_back_is_marked() {
        assert_eq!(passed(0, 7_200_000), "2 h");
        assert_eq!(passed(7_200_000, 0), "the clock went back by 2 h");
        let plain = local(0);
        let back = format!("{plain}, the clock went back by 2 h");
        for (before, now, expected) in [
            (None, 0, plain.clone()),
            (Some(0), 0, plain.clone()),
            (Some(7_200_000), 0, back.clone()),
            (None, -172_800_000, format!("{plain}, in 2 d")),
            (Some(7_200_000), -172_800_000, format!("{back}, in 2 d")),
        ] {
            assert_eq!(dated(0, before, now), expected);
        }
        assert_eq!(passed(i64::MAX, i64::MIN), "the clock went back by 213503982334 d");
    }
}
