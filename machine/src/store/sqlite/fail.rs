//! Fail points: tests kill or stop the process there, or cause an error. See the crate `fail`.
//!
//! Without the feature `failpoints` nothing of this is compiled.

/// A place where a test can run code.
macro_rules! fail_point {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        ::fail::fail_point!($name);
    };
}

/// A place where a test can return an error of SQLite, given by its extended code.
macro_rules! fail_point_with_error {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        ::fail::fail_point!($name, |code: Option<String>| Err($crate::store::sqlite::fail::error(
            code.as_deref()
        )));
    };
}

pub(super) use {fail_point, fail_point_with_error};

#[cfg(feature = "failpoints")]
pub(super) fn error(code: Option<&str>) -> rusqlite::Error {
    use rusqlite::ffi;

    let code = code.and_then(|code| code.parse().ok()).unwrap_or(ffi::SQLITE_IOERR_FSYNC);
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}
