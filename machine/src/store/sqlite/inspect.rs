use std::{
    fmt::Write,
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, ffi};

use super::{connection, deadline::OpenDeadline, failure, schema};
use crate::store::error::OpenError;

#[derive(Debug)]
pub(super) enum Inspected {
    /// There is none, or nothing was created in it yet.
    Empty,
    /// A process ended in a transaction with a journal, which the next one that writes rolls back.
    Interrupted,
    /// A store. The connection, if it uses the log, keeps the shared memory of the log as it is, so
    /// that the next connection finds it recovered.
    Store(#[allow(dead_code, reason = "it is kept open")] Option<Connection>),
}

/// Refuses a file that is not a store of a supported format, without changing it.
///
/// The file is read by SQLite only. Locks of POSIX systems belong to the process and the file: if
/// this process opened and closed the file itself, it would drop the locks of all its connections.
pub(super) fn inspect(path: &Path, deadline: OpenDeadline) -> Result<Inspected, OpenError> {
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refuse_leftovers(path, &["-wal", "-journal"]).map(|()| Inspected::Empty);
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
        return refuse_leftovers(path, &["-wal"]).map(|()| Inspected::Empty);
    }
    let mut attempts = 1;
    loop {
        let at = path.to_owned();
        // Another process may be writing the first page, and a file without a log is read without
        // locks.
        match deadline.bound(path, move || header(&at, deadline)) {
            Err(
                OpenError::Damaged { .. }
                | OpenError::NotADatabase { .. }
                | OpenError::OtherProgram { .. },
            ) if attempts < 6 => std::thread::sleep(Duration::from_millis(10)),
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

/// Without the database, a write-ahead log belongs to a database that was moved, or is not a log.
/// SQLite would overwrite it.
pub(super) fn refuse_leftovers(path: &Path, suffixes: &[&str]) -> Result<(), OpenError> {
    let is_empty = |path: &Path| fs::metadata(path).map_or(true, |file| file.len() == 0);
    for suffix in suffixes {
        let other = with_suffix(path, suffix);
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

fn header(path: &Path, deadline: OpenDeadline) -> Result<Inspected, OpenError> {
    let says = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path: path.to_owned() },
        _ => failure::opening(&error, path),
    };
    let (connection, is_locked) = open_for_reading(path, deadline.left_ms()).map_err(says)?;
    match schema::number(&connection, "application_id") {
        Ok(schema::APPLICATION_ID) => {}
        Ok(_) => return Err(OpenError::OtherProgram { path: path.to_owned() }),
        Err(error) if failure::is_extended(&error, ffi::SQLITE_READONLY_ROLLBACK) => {
            return refuse_interrupted(path).map(|()| Inspected::Interrupted);
        }
        Err(error) => return Err(says(error)),
    }
    // Format 0 means that the file is not completely created; that is decided later, under a lock.
    match schema::number(&connection, "user_version").map_err(says)? {
        0 => {}
        found => schema::check_format(found, path)?,
    }
    Ok(Inspected::Store(is_locked.then_some(connection)))
}

/// Refuses a file with a journal that has to be rolled back, if it is of another program for
/// certain. What is in such a file may be half written.
fn refuse_interrupted(path: &Path) -> Result<(), OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    let id = Connection::open_with_flags(immutable(path), flags)
        .and_then(|connection| schema::number(&connection, "application_id"));
    match id {
        Ok(id) if id != schema::APPLICATION_ID => {
            Err(OpenError::OtherProgram { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Opens a file without changing it, and says whether its locks are respected. If there is neither
/// a write-ahead log nor a journal, `immutable` keeps SQLite from creating a log; if there is one,
/// it may belong to another program and must not be checkpointed.
pub(super) fn open_for_reading(path: &Path, busy_ms: u64) -> rusqlite::Result<(Connection, bool)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let is_locked = cfg!(windows) || wal(path).exists() || has_journal(path);
    #[allow(unused_mut, reason = "costs are counted with `failpoints`")]
    let mut connection = if is_locked {
        Connection::open_with_flags(path, flags)
    } else {
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
    }?;
    #[cfg(feature = "failpoints")]
    super::cost::count(&mut connection, path)?;
    connection::wait(&connection, busy_ms)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok((connection, is_locked))
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

pub(super) fn wal(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Checks for a hot journal: the file may be half written, and its journal says what it was. SQLite
/// writes the first byte of a journal when everything that it needs from the journal is on disk,
/// and changes the file after that. It locks the file only, so this process may open the journal
/// and close it.
pub(super) fn has_journal(path: &Path) -> bool {
    let mut first = [0];
    let read = fs::File::open(with_suffix(path, "-journal"))
        .and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first != [0]
}
