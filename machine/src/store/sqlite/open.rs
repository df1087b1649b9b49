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
    check::{Named, incompatible},
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
    /// The defaults: a busy timeout of 5 seconds, and the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait for another process before [`StoreError::Busy`].
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Declares a kind of machine that the program uses. [`open`](Self::open) refuses a file with
    /// machines of that kind that the program's definition cannot read, and lists them.
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.named.push(Named::of::<M>());
        self
    }

    /// Sets the clock; by default the system clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub(super) fn named(&self) -> &[Named] {
        &self.named
    }

    /// Opens the file, and creates it if it does not exist. Blocks briefly.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be opened, is not a database, belongs to another program,
    /// has an unsupported format or incompatible machines, is read-only, or cannot be made durable.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let given = path.as_ref();
        let cannot_open = |error: std::io::Error| cannot_open(given, &error);
        if given == Path::new(":memory:") {
            let (path, found) = (given.to_owned(), "memory".to_owned());
            return Err(StoreError::NotDurable { path, setting: "journal_mode", found });
        }
        // Lock files are next to the database, even if the program later changes its working
        // directory. Also, SQLite parses a name that starts with `file:` as a URI; an absolute path
        // does not start with that.
        let path = std::path::absolute(given).map_err(cannot_open)?;
        // Two names of one file are one store: workers find each other by the path. A file that is
        // made now has no link to follow yet.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        refuse_hard_links(&path)?;
        let mut checked = whose(&path).map_err(cannot_open)?;
        for _ in 0..5 {
            if checked.is_ok() {
                break;
            }
            // Another process may be creating this file and have written its first page partially.
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
        // SQLite returns busy without waiting when two processes switch a new file to WAL at once,
        // to avoid a deadlock. The loser retries.
        let deadline = Instant::now() + self.busy_timeout;
        loop {
            match prepare(&mut connection, &path) {
                Err(StoreError::Busy) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                prepared => break prepared?,
            }
        }
        let check = incompatible(&connection, &self.named)?;
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
    /// Opens the file with the default [`OpenOptions`], and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// See [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        OpenOptions::new().open(path)
    }
}

/// A file with two names has two write-ahead logs, and each name misses what the other has.
fn refuse_hard_links(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Ok(file) = std::fs::metadata(path) {
        let links = std::os::unix::fs::MetadataExt::nlink(&file);
        if file.is_file() && links > 1 {
            return Err(StoreError::HardLinked { path: path.to_owned(), links });
        }
    }
    let _ = path;
    Ok(())
}

pub(super) fn cannot_open(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::CannotOpen { path: path.to_owned(), reason: error.to_string() }
}

/// Checks the file header before SQLite opens the file. Opening can change a file: SQLite would
/// checkpoint the write-ahead log of another program into it.
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
        // 0 until the file is completely created; the write-ahead log may be newer.
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
    // Create the tables before switching to WAL, so that the header always has the application id.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("SELECT count(*) FROM sqlite_schema").map_err(says)? == 0 {
        transaction.execute_batch(schema::CREATE).map_err(says)?;
        transaction.pragma_update(None, "application_id", schema::APPLICATION_ID).map_err(says)?;
        transaction.pragma_update(None, "user_version", schema::FORMAT).map_err(says)?;
    }
    // The file header may be older than the write-ahead log.
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

/// An error while opening a file, with its path.
pub(super) fn named(error: rusqlite::Error, path: &Path) -> StoreError {
    let path: PathBuf = path.to_owned();
    match error.sqlite_error_code() {
        // The header had our application id.
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::CannotOpen { path, reason: error.to_string() }
        }
        _ => error.into(),
    }
}
