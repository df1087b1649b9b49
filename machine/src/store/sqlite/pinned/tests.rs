use super::*;

const LARGE: u64 = 100;

fn pids<const N: usize>(pids: [u32; N]) -> impl Fn() -> BTreeSet<u32> {
    move || BTreeSet::from(pids)
}

fn is(known: &Pinned, now: Millis, reading: &[u32], expected: Option<(Millis, &[u32])>) {
    let found = known.look(now, || reading.iter().copied().collect());
    let expected = expected.map(|(since, pids)| PinnedLog { since, pids: pids.to_vec() });
    assert_eq!(found, expected);
}

#[test]
fn a_reader_is_found_by_checkpoints_that_get_no_further() {
    let known = Pinned::default();
    known.note((99, 10), LARGE, pids([1]));
    known.note((100, 10), LARGE, pids([1, 2]));
    is(&known, 1000, &[1, 2], None);
    is(&known, 2000, &[1, 2], None);
    known.note((110, 10), LARGE, pids([1, 3]));
    is(&known, 3000, &[1, 3], Some((1000, &[1])));
    // Another one takes its place.
    known.note((120, 50), LARGE, pids([3]));
    known.note((130, 50), LARGE, pids([3]));
    is(&known, 4000, &[3], None);
    known.note((140, 50), LARGE, pids([3]));
    is(&known, 5000, &[3], Some((4000, &[3])));
    // It has ended, and there was no checkpoint since.
    is(&known, 6000, &[1], None);
    known.note((150, 50), LARGE, pids([1]));
    is(&known, 7000, &[1], None);
    known.note((150, 50), LARGE, pids([1]));
    known.note((150, 150), LARGE, pids([1]));
    is(&known, 8000, &[1], None);
}

#[test]
fn a_reader_without_a_process_is_found() {
    let known = Pinned::default();
    known.note((100, 10), LARGE, BTreeSet::new);
    is(&known, 1000, &[], None);
    known.note((110, 10), LARGE, BTreeSet::new);
    is(&known, 2000, &[], Some((1000, &[])));
}

#[cfg(target_os = "linux")]
#[test]
fn locks_of_readers_are_those_of_their_marks() {
    let found = |lock| reader(lock, "fe:00:77");
    assert_eq!(found("1: POSIX  ADVISORY  READ 12 fe:00:77 124 124"), Some(12));
    assert_eq!(found("12: POSIX  ADVISORY  READ 12 fe:00:77 127 128"), Some(12));
    for other in [
        "1: POSIX  ADVISORY  READ 12 fe:00:77 128 128",
        "1: POSIX  ADVISORY  WRITE 12 fe:00:77 120 120",
        "1: POSIX  ADVISORY  READ 12 fe:00:78 124 124",
        "1: POSIX  ADVISORY  READ 0 fe:00:77 124 124",
        "1: OFDLCK ADVISORY  READ -1 fe:00:77 124 124",
        "1: -> POSIX  ADVISORY  READ 12 fe:00:77 124 124",
        "1: FLOCK  ADVISORY  READ 12 fe:00:77 0 EOF",
        "",
    ] {
        assert_eq!(found(other), None, "{other}");
    }
}
