use std::{
    fmt::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use rusqlite::{Connection, OpenFlags, params};

use super::{
    definitions::{self, Definitions, stored},
    open::{OpenOptions, cannot_open, named, whose},
    read::{read, stored_id},
    schema,
};
use crate::{
    definition::{Comparison, Definition},
    erased::{Restore, Unverified, VerifyError},
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
    pub looked_at: usize,
    /// How the program's definition differs from each stored one.
    pub changes: Vec<Comparison>,
    /// The machines that the program cannot read.
    pub blocked: Vec<Blocked>,
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
        self.machines.iter().all(|machine| machine.blocked.is_empty())
    }
}

/// The maximum number of machines of each kind that a report names.
const NAMED: usize = 20;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for CheckedMachine { machine, looked_at, changes, blocked } in &self.machines {
            match blocked.len() {
                0 => writeln!(f, "{machine}: {looked_at} checked, all can be read")?,
                count => writeln!(f, "{machine}: {count} cannot be read")?,
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
    rehearse: fn(Unverified) -> Result<(), VerifyError>,
}

impl Named {
    pub(super) fn of<M: Restore>() -> Self {
        Self { definition: M::DEFINITION, rehearse: |claim| claim.verify::<M>().map(drop) }
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
        checked.looked_at += 1;
        let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
        let Ok(id) = stored_id(&id) else {
            tracing::error!(id, "a row has an invalid id");
            continue;
        };
        let reason = match read(connection, &known, id) {
            Ok(stored) => {
                let claim = stored.into_claim();
                // Upgrades are the user's code; one that panics concerns its machine only.
                let read = catch_unwind(AssertUnwindSafe(|| rehearse(claim)));
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

/// Compares the stored definitions of a machine with the program's. Also returns the incompatible
/// ones.
fn compare(
    connection: &Connection,
    own: &'static Definition,
) -> Result<(CheckedMachine, Vec<Definition>), StoreError> {
    let machine = own.name.to_string();
    let mut checked =
        CheckedMachine { machine, looked_at: 0, changes: Vec::new(), blocked: Vec::new() };
    let mut incompatible = Vec::new();
    for older in definitions::of_machine(connection, &own.name)? {
        let comparison = older.compare(own);
        if !comparison.is_compatible() {
            incompatible.push(older);
        }
        if !comparison.changes().is_empty() {
            checked.changes.push(comparison);
        }
    }
    Ok((checked, incompatible))
}

/// Finds the machines that keep a program from opening the file. Searches only for incompatible
/// states, so that a compatible file opens immediately.
pub(super) fn in_the_way(connection: &Connection, all: &[Named]) -> Result<Check, StoreError> {
    let mut machines = Vec::new();
    for Named { definition: own, .. } in all {
        let (mut checked, incompatible) = compare(connection, own)?;
        for older in incompatible {
            let comparison = older.compare(own);
            for state in &*older.states {
                let reasons: Vec<String> =
                    comparison.blocking(&state.name).map(ToString::to_string).collect();
                if reasons.is_empty() {
                    continue;
                }
                let mut select = connection.prepare_cached(
                    "SELECT id FROM instance
                     WHERE machine = ?1 AND definition = ?2 AND status = ?3 ORDER BY id",
                )?;
                let rows = select
                    .query_map(params![own.name, stored(older.fingerprint), state.name], |row| {
                        row.get::<_, String>(0)
                    })?;
                for id in rows {
                    let (Ok(id), state) = (stored_id(&id?), state.name.to_string()) else {
                        continue;
                    };
                    checked.looked_at += 1;
                    checked.blocked.push(Blocked { id, state, reason: reasons.join("; ") });
                }
            }
        }
        machines.push(checked);
    }
    Ok(Check { machines })
}
