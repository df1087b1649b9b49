//! COMMIT returns an error: the caller learns what is known, and the same commit, tried again, finds
//! out the rest.

mod commits;
mod executions;
mod gates;

use machine::store::{CommitError, Store};

use crate::machines::{Meter, meter::Counting};

/// The code of an error of fsync, after which the content of the disk is unknown.
pub(super) const FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;
pub(super) const FULL: i32 = rusqlite::ffi::SQLITE_FULL;
pub(super) const BUSY: i32 = rusqlite::ffi::SQLITE_BUSY;

/// The next COMMIT returns an error, without having done anything or after it took effect.
pub(super) fn commit_fails(took_place: bool, code: i32) {
    let point = if took_place { "store-committed" } else { "store-commit" };
    fail::cfg(point, &format!("1*return({code})")).unwrap();
}

/// The next COMMIT returns an error, and the file cannot be read afterwards.
pub(super) fn commit_is_indeterminate(took_place: bool) {
    commit_fails(took_place, FSYNC);
    fail::cfg("store-reopen", &format!("1*return({FSYNC})")).unwrap();
}

pub(super) fn assert_indeterminate(result: Result<(), CommitError>) {
    assert_open(&result.unwrap_err());
}

pub(super) fn assert_open(error: &CommitError) {
    assert!(
        matches!(error, CommitError::Unavailable(error) if error.is_indeterminate()),
        "{error}"
    );
}

/// A machine with two entries on disk.
pub(super) async fn counting(store: &Store) -> Meter<Counting> {
    let mut meter = Meter::new().add("one".to_owned());
    store.create(&mut meter).await.unwrap();
    meter
}
