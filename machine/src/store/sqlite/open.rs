use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{Shared, SqliteStore, schema, thread::Thread, worker::Worker};
use crate::store::StoreError;

/// How to open a store.
///
/// ```no_run
/// use std::time::Duration;
/// use machine::store::OpenOptions;
///
/// let store = OpenOptions::new().busy_timeout(Duration::from_millis(200)).open("agent.db")?;
/// # Ok::<(), machine::store::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    busy_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5) }
    }
}

impl OpenOptions {
    /// The usual ones: waits 5 seconds for other processes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait for another process that writes, before [`StoreError::Busy`].
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Opens the file, and makes it if it is not there. This does block, for a moment.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the file cannot be opened, is no database, is another program's, is
    /// newer than this program, cannot be written, or cannot be made durable.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let path = path.as_ref();
        let cannot_open = |reason: String| StoreError::CannotOpen { path: path.to_owned(), reason };
        // No URIs: a file name is a file name, whatever stands in it.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection =
            Connection::open_with_flags(path, flags).map_err(|error| named(error, path))?;
        connection.busy_timeout(self.busy_timeout)?;
        prepare(&mut connection, path)?;
        // Worker files lie beside the database, wherever the program goes later.
        let path = path.canonicalize().map_err(|error| cannot_open(error.to_string()))?;
        let worker = Worker::new(path.clone());
        let thread = Thread::start(connection).map_err(|error| cannot_open(error.to_string()))?;
        Ok(SqliteStore { shared: Arc::new(Shared { path, thread, worker }) })
    }
}

impl SqliteStore {
    /// Opens the file with the usual [`OpenOptions`], and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// See [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        OpenOptions::new().open(path)
    }
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    // Whose file it is comes first: nothing is written to one that is not ours.
    let fresh = is_fresh(connection, path)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    let read_back = |pragma: &'static str, wanted: &str, found: String| {
        if found.eq_ignore_ascii_case(wanted) {
            Ok(())
        } else {
            Err(StoreError::NotDurable { path: path.to_owned(), setting: pragma, found })
        }
    };
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(|error| named(error, path))?;
    read_back("journal_mode", "wal", mode)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
    let level: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
    read_back("synchronous", "2", level.to_string())?;

    if fresh {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the tables while this one waited.
        if is_fresh(&transaction, path)? {
            transaction.execute_batch(schema::CREATE).map_err(|error| named(error, path))?;
            transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", schema::FORMAT)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Whether the file is empty; an error when it is not ours, or too new.
fn is_fresh(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(|error| named(error, path))
    };
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    if application == 0 && format == 0 && objects == 0 {
        return Ok(true);
    }
    if application != schema::APPLICATION_ID {
        return Err(StoreError::OtherProgram { path: path.to_owned() });
    }
    if format > schema::FORMAT {
        return Err(StoreError::TooNew {
            path: path.to_owned(),
            found: format,
            known: schema::FORMAT,
        });
    }
    Ok(false)
}

/// While a file is being opened, the error names it.
fn named(error: rusqlite::Error, path: &Path) -> StoreError {
    let path: PathBuf = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::NotADatabase { path }
        }
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::CannotOpen { path, reason: error.to_string() }
        }
        _ => error.into(),
    }
}
