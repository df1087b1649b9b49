use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::store::error::{OpenError, Unavailable};

/// Why a transaction has to be rolled back.
#[derive(Debug)]
pub(super) struct RollbackCause(pub(super) Unavailable);

impl From<Error> for RollbackCause {
    fn from(error: Error) -> Self {
        Self(unavailable(&error))
    }
}

/// An error of SQLite after which nothing was written.
pub(super) fn unavailable(error: &Error) -> Unavailable {
    match error.sqlite_error_code() {
        _ if is_busy(error) => Unavailable::Busy,
        Some(ErrorCode::DiskFull) => Unavailable::Full,
        // A reader may have to make the shared memory file of the log, and SQLite has no better
        // code for that.
        _ if is_extended(error, ffi::SQLITE_IOERR_SHMSIZE) => Unavailable::Full,
        _ => Unavailable::other(error),
    }
}

/// Checks whether another connection holds a lock, so that a later attempt can succeed.
pub(super) fn is_busy(error: &Error) -> bool {
    // `FileLockingProtocolFailed`: SQLite could not begin to read the log in ten seconds, because
    // another process was frozen while it recovered the log, or while it changed the header of its
    // index.
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

pub(super) fn is_extended(error: &Error, code: i32) -> bool {
    matches!(error, Error::SqliteFailure(failure, _) if failure.extended_code == code)
}

/// An error while opening a file that has the application id of this library.
pub(super) fn opening(error: &Error, path: &Path) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path },
        Some(ErrorCode::ReadOnly) => OpenError::ReadOnly { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            // Only SQLite opens the file, so the exact cause is unknown.
            let reason = "check that its folder exists and that this user may read the file or, \
                          for writing, may write to both"
                .to_owned();
            OpenError::CannotOpen { path, reason }
        }
        _ => unavailable(error).into(),
    }
}

/// An error while opening another connection to a file that is open already.
pub(super) fn reopening(error: OpenError) -> Unavailable {
    match error {
        OpenError::Unavailable(error) => error,
        error => Unavailable::other(error),
    }
}

pub(super) fn sqlite_code(error: &Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
