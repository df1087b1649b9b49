use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, TransactionBehavior};

use super::{
    Sqlite,
    connection::{self, Role},
    failure, identity,
    inode::Inode,
    inspect::{cannot_open, inspect},
    observed,
    readers::Source,
    schema,
};
use crate::{
    journal::DigestKey,
    store::{
        OpenError,
        backend::{Identity, Settings},
    },
};

/// Opens the file, and creates it if it does not exist. Blocks.
pub(crate) fn open(given: &Path, settings: Settings) -> Result<Sqlite, OpenError> {
    open_for_writing(given, settings, false)
}

/// Opens the file, if there is a store in it. Blocks.
pub(crate) fn open_existing(given: &Path, settings: Settings) -> Result<Sqlite, OpenError> {
    open_for_writing(given, settings, true)
}

fn open_for_writing(
    given: &Path,
    settings: Settings,
    must_exist: bool,
) -> Result<Sqlite, OpenError> {
    if given == Path::new(":memory:") {
        let reason =
            "the name stands for a store in memory; use `Store::memory()`, or the path of a file"
                .to_owned();
        return Err(OpenError::CannotOpen { path: given.to_owned(), reason });
    }
    // The program may change its working directory later. Also, SQLite parses a name that starts
    // with `file:` as a URI; an absolute path does not start with that.
    let path = std::path::absolute(given).map_err(|error| cannot_open(given, &error))?;
    // Two names of one file are one store. A file that is made now has no link to follow yet.
    let path = match std::fs::canonicalize(&path) {
        Err(error) if must_exist => return Err(cannot_open(given, &error)),
        found => found.unwrap_or(path),
    };
    inspect(&path)?;
    let connection = create(&path, &settings, must_exist)?;
    // The folder of a new file may have been reached through a link.
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let identity = identity::of(&connection, &path, &settings.key)?;
    let reader = connection::open(&path, Role::Reader, settings.busy_ms)?;
    let file = Inode::of(&path);
    let source = Source { path, settings, identity, file, observes: false };
    Sqlite::start(source, connection, reader)
}

/// Opens a file without changing it. Blocks.
pub(crate) fn open_for_reading(given: &Path, settings: Settings) -> Result<Sqlite, OpenError> {
    let path = std::fs::canonicalize(given).map_err(|error| cannot_open(given, &error))?;
    inspect(&path).map_err(|error| observed::explain(&path, error))?;
    loop {
        let file = Inode::of(&path);
        let (connection, stamp) = observed::open(&path, settings.busy_ms)?;
        let identity = known(&connection, &path, &settings.key);
        // Somebody began to write in between: what was read may be anything.
        if !observed::is_current(&path, stamp.as_ref()) {
            continue;
        }
        let source = Source { path, settings, identity: identity?, file, observes: true };
        return Sqlite::start_for_reading(source, (connection, stamp));
    }
}

/// Which store it is, if its format is supported.
fn known(connection: &Connection, path: &Path, key: &DigestKey) -> Result<Identity, OpenError> {
    let says = |error| failure::opening(&error, path);
    // The write-ahead log may be newer than what was inspected; an empty file has no format.
    let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(says)?;
    if format == 0 {
        return Err(no_store_yet(path));
    }
    schema::check_format(format, path)?;
    identity::of(connection, path, key)
}

fn no_store_yet(path: &Path) -> OpenError {
    let reason = "there is no store in it yet; start the program that creates it first".to_owned();
    OpenError::CannotOpen { path: path.to_owned(), reason }
}

/// Opens a connection to the file, with the schema in it and in WAL mode.
fn create(path: &Path, settings: &Settings, must_exist: bool) -> Result<Connection, OpenError> {
    let busy_ms = settings.busy_ms;
    let role = if must_exist { Role::Existing } else { Role::Creator };
    let mut connection = connection::open(path, role, busy_ms)?;
    // SQLite returns busy without waiting when two processes switch a new file to WAL at once,
    // to avoid a deadlock. The loser retries.
    let deadline = Instant::now().checked_add(Duration::from_millis(busy_ms));
    loop {
        match prepare(&mut connection, path, &settings.key, must_exist) {
            Err(OpenError::Unavailable(error))
                if error.is_busy() && deadline.is_none_or(|deadline| Instant::now() < deadline) =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            prepared => return prepared.map(|()| connection),
        }
    }
}

fn prepare(
    connection: &mut Connection,
    path: &Path,
    key: &DigestKey,
    must_exist: bool,
) -> Result<(), OpenError> {
    let says = |error| failure::opening(&error, path);
    connection.pragma_update(None, "page_size", 4096).map_err(says)?;
    // Create the tables before switching to WAL, so that the header always has the application id.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    if must_exist && schema::is_empty(&transaction).map_err(says)? {
        return Err(no_store_yet(path));
    }
    schema::prepare(&transaction, path, key)?;
    identity::put_to_use(&transaction, path, key)?;
    transaction.commit().map_err(says)?;
    // Returns the mode that is in force.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(says)?;
    connection::check_wal(connection, path)
}
