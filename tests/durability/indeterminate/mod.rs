//! COMMIT returns an error: the caller learns what is known, and the same commit, tried again,
//! finds out the rest.

mod commits;
mod executions;
mod gates;

use machine::{
    effects::EffectError,
    store::{Store, Unavailable},
};

use crate::{
    machines::{Meter, meter::Counting},
    support::{alone, assert_intact, new_file, options},
};

/// Runs a test in a separate process, on a new file.
pub(super) fn on_a_file(name: &str, test: impl AsyncFnOnce(&Store)) {
    alone(&format!("indeterminate::{name}"), async || {
        let (_folder, file) = new_file();
        let store = options().sqlite(&file).await.unwrap();
        test(&store).await;
        assert_intact(&store).await;
    });
}

/// Runs it for a COMMIT that has done nothing, and for one that took effect; the text differs, too.
#[allow(clippy::needless_pass_by_value, reason = "like `on_a_file`")]
pub(super) fn either_way(name: &str, test: impl AsyncFn(&Store, bool, &str)) {
    on_a_file(name, async |store| {
        for (took_place, to) in [(false, "ann"), (true, "bob")] {
            test(store, took_place, to).await;
        }
    });
}

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

/// The next COMMIT returns an error, and the file cannot be read for longer, until [`is_back`].
pub(super) fn file_is_out_of_reach(took_place: bool) {
    commit_fails(took_place, FSYNC);
    fail::cfg("store-reopen", &format!("return({FSYNC})")).unwrap();
}

pub(super) fn is_back() {
    fail::remove("store-reopen");
}

pub(super) fn assert_indeterminate(result: Result<(), impl Into<EffectError>>) {
    assert_open(&result.map_err(Into::into).unwrap_err());
}

pub(super) fn assert_open(error: &EffectError) {
    assert!(matches!(error, EffectError::Unavailable(Unavailable::Indeterminate(_))), "{error}");
}

/// A machine with two entries on disk.
pub(super) async fn counting(store: &Store) -> Meter<Counting> {
    let mut meter = Meter::new().add("one".to_owned());
    store.create(&mut meter).await.unwrap();
    meter
}
