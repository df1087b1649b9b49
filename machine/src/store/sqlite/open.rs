use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{
    Shared, SqliteStore,
    check::{Named, in_the_way},
    schema,
    thread::Thread,
    worker::Worker,
};
use crate::{
    clock::{Clock, SystemClock},
    erased::Restore,
    store::StoreError,
};

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
    named: Vec<Named>,
    clock: Arc<dyn Clock>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        let (named, clock) = (Vec::new(), Arc::new(SystemClock));
        Self { busy_timeout: Duration::from_secs(5), named, clock }
    }
}

impl OpenOptions {
    /// The defaults: waits 5 seconds for other processes.
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

    /// Names a kind of machine that the program works with. A file with machines of that kind which
    /// the program's definition cannot read is refused, with the list of them.
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.named.push(Named::of::<M>());
        self
    }

    /// Sets what the store takes for the time; by default that of the system.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub(super) fn named(&self) -> &[Named] {
        &self.named
    }

    /// Opens the file, and makes it if it is not there. This does block, for a moment.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the file cannot be opened, is no database, is another program's, is
    /// newer than this program, cannot be written, or cannot be made durable.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let given = path.as_ref();
        let cannot_open = |error: std::io::Error| cannot_open(given, &error);
        if given == Path::new(":memory:") {
            let (path, found) = (given.to_owned(), "memory".to_owned());
            return Err(StoreError::NotDurable { path, setting: "journal_mode", found });
        }
        // Worker files lie beside the database, wherever the program goes later. And SQLite takes
        // a name that starts with `file:` for more than a name; an absolute one does not.
        let path = std::path::absolute(given).map_err(cannot_open)?;
        let mut checked = whose(&path).map_err(cannot_open)?;
        for _ in 0..5 {
            if checked.is_ok() {
                break;
            }
            // Another process may be making this file; its first page may be half there.
            std::thread::sleep(Duration::from_millis(10));
            checked = whose(&path).map_err(cannot_open)?;
        }
        checked?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection =
            Connection::open_with_flags(&path, flags).map_err(|error| named(error, &path))?;
        connection.busy_timeout(self.busy_timeout)?;
        // SQLite does not wait where two switch a new file to WAL at once: each could wait for the
        // other. Whoever loses tries again.
        let deadline = Instant::now() + self.busy_timeout;
        loop {
            match prepare(&mut connection, &path) {
                Err(StoreError::Busy) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                prepared => break prepared?,
            }
        }
        let check = in_the_way(&connection, &self.named)?;
        if !check.is_clean() {
            return Err(StoreError::Incompatible { path, check: Box::new(check) });
        }
        let worker = Arc::new(Worker::new(path.clone()));
        let thread = Thread::start(connection).map_err(cannot_open)?;
        let (definitions, clock) = (Arc::default(), Arc::clone(&self.clock));
        Ok(SqliteStore { shared: Arc::new(Shared { path, thread, worker, definitions, clock }) })
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

pub(super) fn cannot_open(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::CannotOpen { path: path.to_owned(), reason: error.to_string() }
}

/// Looks at the head of the file before SQLite does. To open a file is to change it: what another
/// program left in its write-ahead log would be moved into it.
pub(super) fn whose(path: &Path) -> std::io::Result<Result<(), StoreError>> {
    let mut head = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut head)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Ok(())),
        Err(error) => return Err(error),
    };
    if head.is_empty() {
        return Ok(Ok(()));
    }
    let path = path.to_owned();
    // The format of SQLite's file header, sections 1.3.1, 1.3.13 and 1.3.14 of its documentation.
    let number = |at: usize| {
        let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    let (format, application) = (i64::from(number(60)), i64::from(number(68)));
    Ok(if head.len() < 100 || !head.starts_with(b"SQLite format 3\0") {
        Err(StoreError::NotADatabase { path })
    } else if application != schema::APPLICATION_ID {
        Err(StoreError::OtherProgram { path })
    } else {
        // 0 stands there until the file is made; the write-ahead log may know better.
        if format == 0 { Ok(()) } else { schema::check_format(format, &path) }
    })
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let says = |error| named(error, path);
    if connection.is_readonly("main").map_err(says)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        .map_err(says)?;
    // The tables come before the write-ahead log, so that the head of the file says from the
    // first byte whose it is.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("SELECT count(*) FROM sqlite_schema").map_err(says)? == 0 {
        transaction.execute_batch(schema::CREATE).map_err(says)?;
        transaction.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(says)?;
        transaction.pragma_update(None, "user_version", schema::FORMAT).map_err(says)?;
    }
    // The head of the file may be older than its write-ahead log.
    let found = number("PRAGMA user_version").map_err(says)?;
    schema::check_format(found, path)?;
    transaction.commit().map_err(says)?;

    let read_back = |setting: &'static str, wanted: &str, found: String| {
        if found.eq_ignore_ascii_case(wanted) {
            Ok(())
        } else {
            Err(StoreError::NotDurable { path: path.to_owned(), setting, found })
        }
    };
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(says)?;
    read_back("journal_mode", "wal", mode)?;
    let level: i64 =
        connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).map_err(says)?;
    read_back("synchronous", "2", level.to_string())
}

/// While a file is being opened, the error names it.
pub(super) fn named(error: rusqlite::Error, path: &Path) -> StoreError {
    let path: PathBuf = path.to_owned();
    match error.sqlite_error_code() {
        // Its head said that it is ours.
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::CannotOpen { path, reason: error.to_string() }
        }
        _ => error.into(),
    }
}
