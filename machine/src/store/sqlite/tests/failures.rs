use std::collections::HashSet;

use super::*;
use crate::store::sqlite::{
    connection::{pause, wait_for_lock},
    failure::unavailable,
    schema::FORMAT,
};

/// Sends batches so that they form a group: the writer waits for a lock meanwhile.
fn in_a_group(
    place: &Place,
    store: &Sqlite,
    batches: Vec<WriteBatch>,
) -> Vec<super::super::group::WriteOutcome> {
    let raw = place.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = queued(store.apply(batch(vec![Machine::execution().write(1)])));
    let answers: Vec<_> = batches.into_iter().map(|batch| queued(store.apply(batch))).collect();
    raw.execute_batch("COMMIT").unwrap();
    wait(first).unwrap().unwrap();
    answers.into_iter().map(wait).collect()
}

#[test]
fn an_error_in_a_group_concerns_one_batch_only() {
    let (place, store) = Place::opened();
    let (mut good, mut bad, mut last) =
        (Machine::execution(), stored(&store, 1), Machine::execution());
    // The next line of `bad` is there already.
    place
        .raw()
        .execute(
            "INSERT INTO journal (seq, instance, number, at, definition, kind, digest)
             SELECT 2, no, 1, 0, definition, 1, x'00' FROM instance",
            [],
        )
        .unwrap();
    let mut without = batch(vec![Machine::execution().write(1)]);
    without.writes[0].row.definition = crate::definition::Fingerprint(1);
    let bad_id = bad.row.id;
    let batches = vec![
        batch(vec![good.write(1)]),
        batch(vec![bad.write(1)]),
        without,
        batch(vec![last.write(1)]),
    ];
    let outcomes = in_a_group(&place, &store, batches);
    assert_eq!(outcomes[0].clone().unwrap().unwrap().last, [4]);
    assert!(outcomes[1].as_ref().unwrap_err().to_string().contains("UNIQUE"), "{outcomes:?}");
    assert!(outcomes[2].as_ref().unwrap_err().to_string().contains("definition"), "{outcomes:?}");
    assert_eq!(outcomes[3].clone().unwrap().unwrap().last, [5]);
    let FoundRow::Row(row, _) = row(&store, bad_id) else { panic!("no row") };
    assert_eq!(row.version, 1);
}

#[test]
fn a_definition_of_a_batch_that_failed_is_written_by_the_next() {
    let (_place, store) = Place::opened();
    let mut bad = Machine::execution();
    let mut failing = batch(vec![bad.write(1)]);
    failing.writes[0].lines[0].number = u64::MAX;
    assert!(wait(store.apply(failing)).is_err());
    assert!(wait(store.definitions()).unwrap().intact.is_empty());
    stored(&store, 1);
    assert_eq!(wait(store.definitions()).unwrap().intact.len(), 1);
    assert_eq!(verify(&store), 1);
}

#[test]
fn a_newer_format_is_noticed_while_the_file_is_open() {
    let (place, store) = Place::opened();
    // The writer knows the format from its first commit.
    stored(&store, 1);
    let newer = FORMAT + 1;
    place.raw().pragma_update(None, "user_version", newer).unwrap();
    let error = wait(store.apply(batch(vec![Machine::execution().write(1)]))).unwrap_err();
    assert!(error.to_string().contains(&format!("format {newer}")), "{error}");
}

/// Another error is not a lock, and with no time to wait there is one attempt.
#[test]
fn a_lock_is_waited_for_until_the_time_is_over() {
    let error = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
    for (code, busy_ms, fails, tries) in [
        (ffi::SQLITE_BUSY, 60_000, 4, 5),
        (ffi::SQLITE_BUSY_SNAPSHOT, 60_000, 4, 5),
        (ffi::SQLITE_PROTOCOL, 60_000, 4, 5),
        (ffi::SQLITE_PROTOCOL, 0, 4, 1),
        (ffi::SQLITE_BUSY, 0, 4, 1),
        (ffi::SQLITE_FULL, 60_000, 4, 1),
        (ffi::SQLITE_BUSY, 60_000, 0, 1),
    ] {
        let mut tried = 0;
        let got = wait_for_lock(busy_ms, || {
            tried += 1;
            if tried > fails { Ok(()) } else { Err(error(code)) }
        });
        assert_eq!((tried, got.is_ok()), (tries, tries > fails), "{code} {busy_ms}");
        assert_eq!(unavailable(&error(code)).is_busy(), code != ffi::SQLITE_FULL, "{code}");
    }
}

/// Threads, like processes, do not look for the lock at the same moments again and again.
#[test]
fn pauses_differ_between_rounds_and_threads() {
    let pauses = || (0..100).map(|_| pause()).collect::<Vec<_>>();
    let (here, there) = (pauses(), std::thread::spawn(pauses).join().unwrap());
    assert_ne!(here, there);
    for pauses in [here, there] {
        let differing: HashSet<_> = pauses.iter().collect();
        assert!(differing.len() > 50, "{pauses:?}");
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_millis(2));
        assert!(pauses.iter().all(|pause| (shortest..longest).contains(pause)), "{pauses:?}");
    }
}
