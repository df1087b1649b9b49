use std::{
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{failure, schema};
use crate::store::error::OpenError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Creator,
    /// Opens a file that must be there, and in which nothing may be created.
    Existing,
    Writer,
    /// Cannot write, and never checkpoints, even when it is the last one to close.
    Reader,
    Checkpoint,
}

/// Opens a connection, and verifies that its commits are durable.
pub(super) fn open(path: &Path, role: Role, busy_ms: u64) -> Result<Connection, OpenError> {
    let says = |error| failure::opening(&error, path);
    let flags = match role {
        Role::Creator => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        // A file that is missing now was moved away; a new one at its path would not be this store.
        Role::Existing | Role::Writer | Role::Checkpoint => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Role::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[allow(unused_mut, reason = "costs are counted with `failpoints`")]
    let mut connection = Connection::open_with_flags(path, flags).map_err(says)?;
    #[cfg(feature = "failpoints")]
    super::cost::count(&mut connection, path).map_err(says)?;
    if role != Role::Reader && connection.is_readonly("main").map_err(says)? {
        return Err(OpenError::ReadOnly { path: path.to_owned() });
    }
    let busy_ms = if role == Role::Checkpoint { 0 } else { busy_ms };
    wait(&connection, busy_ms).map_err(says)?;
    keep_statements(&connection).map_err(says)?;
    // Negative: in KiB, not in pages.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;")
        .map_err(says)?;
    read_back(&connection, "synchronous", 2, path)?;
    if cfg!(target_vendor = "apple") {
        // An fsync of Apple's leaves the data in the disk's cache.
        for setting in ["fullfsync", "checkpoint_fullfsync"] {
            connection.pragma_update(None, setting, 1).map_err(says)?;
            read_back(&connection, setting, 1, path)?;
        }
    }
    if role == Role::Reader {
        connection.pragma_update(None, "query_only", 1).map_err(says)?;
    }
    if role == Role::Reader || role == Role::Checkpoint {
        let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(setting, true).map_err(says)?;
    }
    // The others find the log that one of these has switched on.
    if role != Role::Creator && role != Role::Existing {
        check_wal(&connection, path)?;
    }
    Ok(connection)
}

/// Keeps compiled statements. Otherwise SQLite compiles one again for each new value of a parameter
/// that its planner could look at, which was half of the instructions of a commit.
pub(super) fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Sets how long a statement waits for other connections.
pub(super) fn wait(connection: &Connection, busy_ms: u64) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_millis(busy_ms.min(i32::MAX as u64)))
}

/// Repeats what needs a lock, as long as another connection holds it and the time is not over.
///
/// SQLite's own handler ends up looking every 100 ms, so that it can miss for seconds a lock that
/// is free most of the time. This one looks every 1 to 2 ms, at moments that differ between
/// processes.
pub(super) fn wait_for_lock<T>(
    busy_ms: u64,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if failure::is_busy(&error) && start.elapsed() < Duration::from_millis(busy_ms) =>
            {
                thread::sleep(pause());
            }
            attempted => return attempted,
        }
    }
}

/// A random time of 1 to 2 ms: the keys of every `RandomState` differ.
pub(super) fn pause() -> Duration {
    Duration::from_micros(1000 + RandomState::new().build_hasher().finish() % 1000)
}

pub(super) fn check_wal(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    let found = mode.map_err(|error| failure::opening(&error, path))?;
    if found.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    Err(OpenError::NotDurable { path: path.to_owned(), setting: "journal_mode", found })
}

fn read_back(
    connection: &Connection,
    setting: &'static str,
    wanted: i64,
    path: &Path,
) -> Result<(), OpenError> {
    let found = schema::number(connection, setting);
    match found.map_err(|error| failure::opening(&error, path))? {
        found if found == wanted => Ok(()),
        found => {
            let (path, found) = (path.to_owned(), found.to_string());
            Err(OpenError::NotDurable { path, setting, found })
        }
    }
}
