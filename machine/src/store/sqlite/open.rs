use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{Connection, TransactionBehavior};

use super::{
    Sqlite,
    connection::{self, Role},
    failure,
    inspect::{self, cannot_open, inspect},
    schema,
};
use crate::{
    id::Id,
    journal::{Digest, DigestKey},
    store::{
        OpenError,
        backend::{Identity, Settings},
    },
};

/// Opens the file, and creates it if it does not exist. Blocks.
pub(crate) fn open(given: &Path, settings: Settings) -> Result<Sqlite, OpenError> {
    if given == Path::new(":memory:") {
        let reason = "it is not a file; use `Store::memory()`".to_owned();
        return Err(OpenError::CannotOpen { path: given.to_owned(), reason });
    }
    // The program may change its working directory later. Also, SQLite parses a name that starts
    // with `file:` as a URI; an absolute path does not start with that.
    let path = std::path::absolute(given).map_err(|error| cannot_open(given, &error))?;
    // Two names of one file are one store. A file that is made now has no link to follow yet.
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    inspect(&path)?;
    let connection = create(&path, &settings)?;
    // The folder of a new file may have been reached through a link.
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let identity = identity(&connection, &path, &settings.key)?;
    let reader = connection::open(&path, Role::Reader, settings.busy_ms)?;
    Sqlite::start(path, settings, identity, connection, reader)
}

/// Opens a file without changing it. Blocks.
pub(crate) fn open_for_reading(given: &Path, settings: Settings) -> Result<Sqlite, OpenError> {
    let path = std::fs::canonicalize(given).map_err(|error| cannot_open(given, &error))?;
    inspect(&path)?;
    let says = |error| failure::opening(&error, &path);
    let connection = inspect::open_for_reading(&path).map_err(says)?;
    connection.pragma_update(None, "query_only", 1).map_err(says)?;
    connection.set_prepared_statement_cache_capacity(64);
    // The write-ahead log may be newer than what was inspected; an empty file has no format.
    let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(says)?;
    if format == 0 {
        let reason = "there is no store in it yet".to_owned();
        return Err(OpenError::CannotOpen { path, reason });
    }
    schema::check_format(format, &path)?;
    let identity = identity(&connection, &path, &settings.key)?;
    Sqlite::start_for_reading(path, settings, identity, connection)
}

/// Opens a connection to the file, with the schema in it and in WAL mode.
fn create(path: &Path, settings: &Settings) -> Result<Connection, OpenError> {
    let busy_ms = settings.busy_ms;
    let mut connection = connection::open(path, Role::Creator, busy_ms)?;
    // SQLite returns busy without waiting when two processes switch a new file to WAL at once,
    // to avoid a deadlock. The loser retries.
    let deadline = Instant::now().checked_add(Duration::from_millis(busy_ms));
    loop {
        match prepare(&mut connection, path, &settings.key) {
            Err(OpenError::Unavailable(error))
                if error.is_busy() && deadline.is_none_or(|deadline| Instant::now() < deadline) =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            prepared => return prepared.map(|()| connection),
        }
    }
}

fn prepare(connection: &mut Connection, path: &Path, key: &DigestKey) -> Result<(), OpenError> {
    let says = |error| failure::opening(&error, path);
    connection.pragma_update(None, "page_size", 4096).map_err(says)?;
    // Create the tables before switching to WAL, so that the header always has the application id.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    schema::prepare(&transaction, path, key)?;
    transaction.commit().map_err(says)?;
    // Returns the mode that is in force.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(says)?;
    connection::check_wal(connection, path)
}

fn identity(connection: &Connection, path: &Path, key: &DigestKey) -> Result<Identity, OpenError> {
    let read = connection.query_row("SELECT id, generation, seal FROM store", [], |row| {
        Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?, row.get::<_, [u8; 32]>(2)?))
    });
    let damaged = || OpenError::Damaged { path: path.to_owned() };
    let (store, generation, seal) = read.map_err(|error| match error.sqlite_error_code() {
        Some(_) => failure::opening(&error, path),
        // No row, or one with other types.
        None => damaged(),
    })?;
    let generation = u64::try_from(generation).map_err(|_| damaged())?;
    let identity = Identity { store: Id::from_bytes(store), generation };
    if identity.seal(key) != Digest::from_bytes(seal) {
        return Err(OpenError::OtherKey { path: path.to_owned() });
    }
    Ok(identity)
}
