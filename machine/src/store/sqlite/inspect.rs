use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use super::{failure, schema};
use crate::store::OpenError;

/// Refuses a file that is not a store of a supported format, without changing it.
///
/// The file is read by SQLite only. Locks of POSIX systems belong to the process and the file: if
/// this process opened and closed the file itself, it would drop the locks of all its connections.
pub(super) fn inspect(path: &Path) -> Result<(), OpenError> {
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refuse_leftovers(path, &["-wal", "-journal"]);
        }
        Err(error) => return Err(cannot_open(path, &error)),
    };
    if !file.is_file() {
        let reason = "it is not a regular file; use another path".to_owned();
        return Err(OpenError::CannotOpen { path: path.to_owned(), reason });
    }
    refuse_hard_links(path, &file)?;
    if file.len() == 0 {
        // A journal may be left by a process that ended while it created the file.
        return refuse_leftovers(path, &["-wal"]);
    }
    let mut attempts = 1;
    loop {
        // Another process may be creating this file and have written its first page partially.
        match header(path) {
            Err(_) if attempts < 6 => std::thread::sleep(Duration::from_millis(10)),
            result => return result,
        }
        attempts += 1;
    }
}

pub(super) fn cannot_open(path: &Path, error: &std::io::Error) -> OpenError {
    let next = match error.kind() {
        std::io::ErrorKind::NotFound => "check the path",
        std::io::ErrorKind::InvalidInput => "give the path of a file",
        _ => "check that the file and its folder are readable and writable",
    };
    OpenError::CannotOpen { path: path.to_owned(), reason: format!("{error}; {next}") }
}

/// Without the database, a write-ahead log is somebody's: that of a database that was moved, or no log
/// at all. SQLite would overwrite it.
pub(super) fn refuse_leftovers(path: &Path, suffixes: &[&str]) -> Result<(), OpenError> {
    let is_empty = |path: &Path| fs::metadata(path).map_or(true, |file| file.len() == 0);
    for suffix in suffixes {
        let mut other = path.as_os_str().to_owned();
        other.push(suffix);
        let other = PathBuf::from(other);
        if is_empty(&other) {
            continue;
        }
        // Looks for the database last. Another process may be creating it: then it was there before
        // its journal, and it was no longer empty before its log.
        let is_missing = if *suffix == "-wal" { is_empty(path) } else { !path.exists() };
        if is_missing {
            return Err(OpenError::Leftover { path: path.to_owned(), other });
        }
    }
    Ok(())
}

/// A file with two names has two write-ahead logs, and each name misses what the other has.
fn refuse_hard_links(path: &Path, file: &fs::Metadata) -> Result<(), OpenError> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(file) > 1 {
        let links = std::os::unix::fs::MetadataExt::nlink(file);
        return Err(OpenError::HardLinked { path: path.to_owned(), links });
    }
    let _ = (path, file);
    Ok(())
}

fn header(path: &Path) -> Result<(), OpenError> {
    let says = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path: path.to_owned() },
        _ => failure::opening(&error, path),
    };
    let connection = open_for_reading(path).map_err(says)?;
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("PRAGMA application_id").map_err(says)? != schema::APPLICATION_ID {
        return Err(OpenError::OtherProgram { path: path.to_owned() });
    }
    // Format 0 means that the file is not completely created; that is decided later, under a lock.
    match number("PRAGMA user_version").map_err(says)? {
        0 => Ok(()),
        found => schema::check_format(found, path),
    }
}

/// Opens a file without changing it. If there is no write-ahead log, `immutable` keeps SQLite from
/// creating one; if there is one, it may belong to another program and must not be checkpointed.
pub(super) fn open_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if cfg!(windows) || wal(path).exists() {
        Connection::open_with_flags(path, flags)
    } else {
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
    }?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// A URI of the file, with everything escaped that could have a meaning in one.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri + "?immutable=1"
}

/// The write-ahead log of the database.
pub(super) fn wal(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}
