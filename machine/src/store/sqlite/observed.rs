//! A file that a store reads and must not change, while other processes may write to it.

use std::{
    fs, io,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use rusqlite::Connection;

use super::{
    connection::{self, Role},
    deadline::OpenDeadline,
    failure,
    inode::Inode,
    inspect::{self, cannot_open, has_journal, wal},
};
use crate::store::{error::OpenError, process::host};

/// The version of a file that no process has open for writing. A different stamp means different
/// content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: SystemTime,
    len: u64,
    /// Differs if another file has replaced it.
    inode: Option<Inode>,
}

/// The time that a file must be unchanged before its time of modification tells versions apart:
/// some systems advance the time of files only every 10 ms.
const SETTLED: Duration = Duration::from_millis(20);

impl Stamp {
    /// `None` if the file has a write-ahead log: then a process has it open, or was killed.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let file = fs::metadata(path)?;
        // After the file was looked at: a log that appears later comes with a later stamp.
        if cfg!(windows) || wal(path).exists() {
            return Ok(None);
        }
        Ok(Some(Self { modified: file.modified()?, len: file.len(), inode: host::place(&file) }))
    }

    /// The remaining time in which a change could go unnoticed.
    fn unsettled(&self) -> Option<Duration> {
        // A time in the future is not the time of the next change.
        let age = SystemTime::now().duration_since(self.modified).unwrap_or(SETTLED);
        SETTLED.checked_sub(age).filter(|left| !left.is_zero())
    }
}

/// Opens a connection that neither changes the file nor creates any other, and reads from it. The
/// stamp is that of a file that no process has open for writing: SQLite then reads it as immutable,
/// without locks, so each read has to check that it is still the same.
pub(super) fn open<T>(
    path: &Path,
    busy_ms: u64,
    deadline: OpenDeadline,
    read: impl Fn(&Connection) -> Result<T, OpenError>,
) -> Result<((Connection, Option<Stamp>), T), OpenError> {
    loop {
        let (connection, stamp) = connect(path, deadline)?;
        let read = read(&connection);
        // A write began in between, so the read data is unreliable.
        if !is_current(path, stamp.as_ref()) {
            deadline.pause()?;
            continue;
        }
        let waits = connection::wait(&connection, busy_ms);
        waits.map_err(|error| failure::opening(&error, path))?;
        return Ok(((connection, stamp), read?));
    }
}

fn connect(path: &Path, deadline: OpenDeadline) -> Result<(Connection, Option<Stamp>), OpenError> {
    loop {
        let Some(stamp) = Stamp::of(path).map_err(|error| cannot_open(path, &error))? else {
            let at = path.to_owned();
            let opened = deadline
                .bound(path, move || connection::open(&at, Role::Reader, deadline.left_ms()));
            return opened
                .map(|connection| (connection, None))
                .map_err(|error| explain(path, error));
        };
        // A process writes to it without a log.
        if has_journal(path) {
            deadline.pause()?;
            continue;
        }
        if let Some(left) = stamp.unsettled() {
            thread::sleep(left);
            continue;
        }
        let says = |error| failure::opening(&error, path);
        let (connection, is_locked) =
            inspect::open_for_reading(path, deadline.left_ms()).map_err(says)?;
        // A log or a journal has appeared.
        if is_locked {
            continue;
        }
        connection.pragma_update(None, "query_only", 1).map_err(says)?;
        connection::keep_statements(&connection).map_err(says)?;
        return Ok((connection, Some(stamp)));
    }
}

/// Checks whether the file is unchanged since it was opened.
pub(super) fn is_current(path: &Path, stamp: Option<&Stamp>) -> bool {
    stamp.is_none() || Stamp::of(path).is_ok_and(|now| now.as_ref() == stamp)
}

/// SQLite needs the shared memory file of a log, also to read.
pub(super) fn explain(file: &Path, error: OpenError) -> OpenError {
    match error {
        OpenError::CannotOpen { path, .. } | OpenError::ReadOnly { path }
            if file.is_file() && wal(file).exists() =>
        {
            let reason =
                "its write-ahead log cannot be read; make the folder writable, or read it \
                          while the program that writes to it runs"
                    .to_owned();
            OpenError::CannotOpen { path, reason }
        }
        other => other,
    }
}
