use std::{
    fmt::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use rusqlite::{Connection, OpenFlags, params};

use super::{
    definitions::{self, Definitions, restored, stored},
    open::{OpenOptions, cannot_open, named, whose},
    read::{Stored, read, stored_id},
    schema,
};
use crate::{
    definition::{Comparison, Definition, Fingerprint},
    erased::{Restore, VerifyError},
    id::Id,
    store::StoreError,
};

/// The result of a check: whether a program can read the machines of a file, and how their
/// definitions have changed.
///
/// Its `Display` is a report for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// One for each kind of machine declared with [`OpenOptions::machine`].
    pub machines: Vec<CheckedMachine>,
}

/// The result of a [`Check`] for one kind of machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedMachine {
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The number of machines that were checked.
    pub checked: usize,
    /// How the program's definition differs from each stored one.
    pub changes: Vec<Comparison>,
    /// The machines that the program cannot read.
    pub blocked: Vec<Blocked>,
    /// The number of rows whose id is not one: they were changed by hand.
    pub broken_rows: usize,
}

/// A machine that a program cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// The machine.
    pub id: Id,
    /// The state in its row.
    pub state: String,
    /// Why, and how to fix it.
    pub reason: String,
}

impl Check {
    /// Whether the program can read every machine.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.machines.iter().all(|machine| machine.blocked.is_empty() && machine.broken_rows == 0)
    }
}

/// The maximum number of machines of each kind that a report names.
const NAMED: usize = 20;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for CheckedMachine { machine, checked, changes, blocked, broken_rows } in &self.machines {
            match blocked.len() + broken_rows {
                0 => writeln!(f, "{machine}: {checked} checked, all can be read")?,
                count => writeln!(f, "{machine}: {checked} checked, {count} cannot be read")?,
            }
            if *broken_rows > 0 {
                writeln!(f, "  {broken_rows} rows have an id that is not one: restore a backup")?;
            }
            for change in changes.iter().flat_map(Comparison::changes) {
                let mark = if change.compatible { "ok" } else { "incompatible" };
                writeln!(f, "  {mark}: {change}")?;
            }
            for Blocked { id, state, reason } in blocked.iter().take(NAMED) {
                writeln!(f, "  {id} in `{state}`: {reason}")?;
            }
            if blocked.len() > NAMED {
                writeln!(f, "  and {} more", blocked.len() - NAMED)?;
            }
        }
        Ok(())
    }
}

/// A kind of machine that the program declares when it opens a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    definition: &'static Definition,
    rehearse: fn(Stored) -> Result<(), VerifyError>,
}

impl Named {
    pub(super) fn of<M: Restore>() -> Self {
        Self { definition: M::DEFINITION, rehearse: |stored| stored.verify::<M>().map(drop) }
    }
}

impl OpenOptions {
    /// Dry run on a file: reads every machine of the kinds declared with [`machine`](Self::machine),
    /// including upgrades, and reports those that cannot be read. Opens the file read-only and does
    /// not change it. Blocks while it reads.
    ///
    /// ```
    /// use machine::contract::AnyExecution;
    /// use machine::store::{OpenOptions, SqliteStore};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agent.db");
    /// drop(SqliteStore::open(&file)?);
    /// let check = OpenOptions::new().machine::<AnyExecution>().check(&file)?;
    /// assert!(check.is_clean(), "{check}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file does not exist or cannot be opened by this program.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<Check, StoreError> {
        // SQLite resolves symbolic links, and looks for the write-ahead log next to the target.
        let path = std::fs::canonicalize(path.as_ref())
            .map_err(|error| cannot_open(path.as_ref(), &error))?;
        whose(&path).map_err(|error| cannot_open(&path, &error))??;
        let connection = open_for_reading(&path)?;
        let format: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| named(error, &path))?;
        schema::check_format(format, &path)?;
        let mut machines = Vec::new();
        for named in self.named() {
            machines.push(rehearse(&connection, *named)?);
        }
        Ok(Check { machines })
    }
}

/// Opens a file without changing it. If there is no write-ahead log, `immutable` keeps SQLite from
/// creating one.
fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri.push_str(if Path::new(&log).exists() { "?mode=ro" } else { "?mode=ro&immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri, flags).map_err(|error| named(error, path))
}

/// Reads every machine of one kind.
fn rehearse(connection: &Connection, named: Named) -> Result<CheckedMachine, StoreError> {
    let Named { definition, rehearse } = named;
    let mut checked = compare(connection, definition)?.0;
    let known = Definitions::default();
    let mut select =
        connection.prepare("SELECT id, status FROM instance WHERE machine = ?1 ORDER BY id")?;
    let mut rows = select.query([&definition.name])?;
    while let Some(row) = rows.next()? {
        checked.checked += 1;
        let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
        let Ok(id) = stored_id(&id) else {
            checked.broken_rows += 1;
            continue;
        };
        let reason = match read(connection, &known, id) {
            Ok(stored) => {
                // Upgrades are the user's code; one that panics concerns its machine only.
                let read = catch_unwind(AssertUnwindSafe(|| rehearse(stored)));
                read.map_or_else(
                    |_| Some("reading it panicked; look at its upgrade functions".to_owned()),
                    |read| read.err().map(|error| error.to_string()),
                )
            }
            Err(error) => Some(error.to_string()),
        };
        checked.blocked.extend(reason.map(|reason| Blocked { id, state, reason }));
    }
    Ok(checked)
}

/// Compares the stored definitions of a machine with the program's, and returns them.
fn compare(
    connection: &Connection,
    own: &'static Definition,
) -> Result<(CheckedMachine, Vec<Definition>), StoreError> {
    let machine = own.name.to_string();
    let mut checked = CheckedMachine {
        machine,
        checked: 0,
        changes: Vec::new(),
        blocked: Vec::new(),
        broken_rows: 0,
    };
    let stored = definitions::of_machine(connection, &own.name)?;
    let changes = stored.iter().map(|older| older.compare(own));
    checked.changes.extend(changes.filter(|comparison| !comparison.changes().is_empty()));
    Ok((checked, stored))
}

/// Finds the machines that keep a program from opening the file. Looks at the definitions that are
/// in use, and at machines only where one does not fit, so that a compatible file opens immediately.
pub(super) fn incompatible(connection: &Connection, all: &[Named]) -> Result<Check, StoreError> {
    let mut machines = Vec::new();
    for Named { definition: own, .. } in all {
        let (mut checked, stored_ones) = compare(connection, own)?;
        for fingerprint in in_use(connection, &own.name)? {
            let older = stored_ones.iter().find(|older| older.fingerprint == fingerprint);
            let reason = |state: &str| match older {
                _ if fingerprint == own.fingerprint => String::new(),
                None => format!("its definition {fingerprint} is missing in the file"),
                Some(older) => {
                    let comparison = older.compare(own);
                    let reasons: Vec<String> =
                        comparison.blocking(state).map(ToString::to_string).collect();
                    reasons.join("; ")
                }
            };
            let fits = |older: &Definition| {
                older.states.iter().all(|state| reason(&state.name).is_empty())
            };
            if fingerprint == own.fingerprint || older.is_some_and(fits) {
                continue;
            }
            let mut select = connection.prepare_cached(
                "SELECT id, status FROM instance WHERE machine = ?1 AND definition = ?2 ORDER BY id",
            )?;
            let mut rows = select.query(params![own.name, stored(fingerprint)])?;
            while let Some(row) = rows.next()? {
                let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
                checked.checked += 1;
                let reason = reason(&state);
                match stored_id(&id) {
                    Ok(id) if !reason.is_empty() => {
                        checked.blocked.push(Blocked { id, state, reason });
                    }
                    Ok(_) => {}
                    Err(_) => checked.broken_rows += 1,
                }
            }
        }
        machines.push(checked);
    }
    Ok(Check { machines })
}

/// The definitions that some machine was written under.
fn in_use(connection: &Connection, machine: &str) -> Result<Vec<Fingerprint>, StoreError> {
    let mut select =
        connection.prepare_cached("SELECT DISTINCT definition FROM instance WHERE machine = ?1")?;
    let rows = select.query_map([machine], |row| row.get(0).map(restored))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
