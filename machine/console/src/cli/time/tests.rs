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
