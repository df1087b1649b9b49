use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{
    Sqlite,
    connection::{self, Role},
    deadline::OpenDeadline,
    fail::fail_point,
    failure, identity,
    inode::Files,
    inspect::{Inspected, cannot_open, inspect},
    newborn, observed,
    readers::Source,
    schema,
};
use crate::{
    journal::DigestKey,
    store::{
        backend::{Identity, StoreSettings},
        error::OpenError,
    },
};

/// Opens the file, and creates it if it does not exist, unless it must. Blocks.
pub(crate) fn open(
    given: &Path,
    settings: StoreSettings,
    must_exist: bool,
) -> Result<Sqlite, OpenError> {
    if given == Path::new(":memory:") {
        let reason =
            "the name denotes an in-memory store; use `Store::memory()`, or the path of a file"
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
    let deadline = OpenDeadline::after(settings.busy_ms);
    let inspected = inspect(&path, deadline)?;
    if let (Inspected::Empty, false) = (&inspected, must_exist) {
        newborn::create(&path, &settings.key)?;
    }
    let connection = create(&path, &settings, must_exist, deadline)?;
    // The folder of a new file may have been reached through a link.
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let identity = identity::of(&connection, &path, &settings.key)?;
    let reader = connection::open(&path, Role::Reader, deadline.left_ms())?;
    for connection in [&connection, &reader] {
        let waits = connection::wait(connection, settings.busy_ms);
        waits.map_err(|error| failure::opening(&error, &path))?;
    }
    drop(inspected);
    let place = Files::at(&path);
    let source = Source { path, settings, identity, place, observes: false };
    Sqlite::start(source, (reader, None), Some(connection))
}

pub(crate) fn open_for_reading(given: &Path, settings: StoreSettings) -> Result<Sqlite, OpenError> {
    let path = std::fs::canonicalize(given).map_err(|error| cannot_open(given, &error))?;
    let deadline = OpenDeadline::after(settings.busy_ms);
    // Kept open, see there.
    let _inspected = match inspect(&path, deadline) {
        Ok(Inspected::Empty) => return Err(no_store_yet(&path)),
        Ok(Inspected::Interrupted) => return Err(interrupted(&path)),
        inspected => inspected.map_err(|error| observed::explain(&path, error))?,
    };
    let place = Files::without_log(&path);
    let identify = |connection: &Connection| known(connection, &path, &settings.key);
    let (reader, identity) = observed::open(&path, settings.busy_ms, deadline, identify)?;
    let source = Source { path, settings, identity, place, observes: true };
    Sqlite::start(source, reader, None)
}

/// A file with a journal that has to be rolled back, which is a write.
fn interrupted(path: &Path) -> OpenError {
    // A process that creates a store in place gives it a log before its tables, so that there is at
    // most one page until then.
    if std::fs::metadata(path).is_ok_and(|file| file.len() <= u64::from(schema::PAGE_SIZE)) {
        return no_store_yet(path);
    }
    let reason =
        "a program that wrote to it without a write-ahead log was interrupted; open it once for \
                  writing, which rolls that back"
            .to_owned();
    OpenError::CannotOpen { path: path.to_owned(), reason }
}

/// Which store it is, if its format is supported.
fn known(connection: &Connection, path: &Path, key: &DigestKey) -> Result<Identity, OpenError> {
    let says = |error| failure::opening(&error, path);
    // The write-ahead log may be newer than what was inspected; an empty file has no format.
    let format = schema::number(connection, "user_version").map_err(says)?;
    if format == 0 {
        return Err(no_store_yet(path));
    }
    schema::check_format(format, path)?;
    identity::of(connection, path, key)
}

fn no_store_yet(path: &Path) -> OpenError {
    let reason = "it contains no store yet; start the program that creates it first".to_owned();
    OpenError::CannotOpen { path: path.to_owned(), reason }
}

/// Opens a connection to the file, with the schema in it and in WAL mode.
fn create(
    path: &Path,
    settings: &StoreSettings,
    must_exist: bool,
    deadline: OpenDeadline,
) -> Result<Connection, OpenError> {
    let role = if must_exist { Role::Existing } else { Role::Creator };
    let at = path.to_owned();
    let mut connection = deadline.bound(path, move || {
        let connection = connection::open(&at, role, deadline.left_ms())?;
        // The first read recovers the log.
        schema::is_empty(&connection).map_err(|error| failure::opening(&error, &at))?;
        Ok(connection)
    })?;
    // SQLite returns busy without waiting when two processes switch a new file to WAL at once,
    // to avoid a deadlock. The loser retries.
    loop {
        connection::wait(&connection, deadline.left_ms())
            .map_err(|error| failure::opening(&error, path))?;
        match prepare(&mut connection, path, &settings.key, must_exist) {
            Err(OpenError::Unavailable(error)) if error.is_busy() => deadline.pause()?,
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
    if must_exist && schema::is_empty(connection).map_err(says)? {
        return Err(no_store_yet(path));
    }
    // In an empty file: first the application id, so that the file is ours from its first page on,
    // then the log, then the tables. Whenever this ends, the journal has at most one page to roll
    // back.
    connection.pragma_update(None, "page_size", schema::PAGE_SIZE).map_err(says)?;
    schema::claim(connection, path)?;
    fail_point!("create-claimed");
    // Returns the current mode.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(says)?;
    connection::check_wal(connection, path)?;
    fail_point!("create-logged");
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    schema::prepare(&transaction, path, key)?;
    identity::put_to_use(&transaction, path, key)?;
    transaction.commit().map_err(says)
}
