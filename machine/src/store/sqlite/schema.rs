use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{cached::Cached, failure, format::FORMAT_16, identity};
use crate::{journal::DigestKey, store::error::OpenError};

/// The SQLite application id of this library ("mach").
pub(super) const APPLICATION_ID: i64 = 0x6d61_6368;

/// The size of a page of a new file, in bytes.
pub(super) const PAGE_SIZE: u32 = 4096;

/// The oldest format that this program can upgrade: the one that the first step creates.
const OLDEST: i64 = 16;

/// The format that this program reads and writes.
#[allow(clippy::cast_possible_wrap, reason = "there are few steps")]
pub(super) const FORMAT: i64 = OLDEST + STEPS.len() as i64 - 1;

/// Each step leads to the next format. A new file runs all of them, an older one those that it
/// misses, so that both end with the same schema.
const STEPS: [&str; 1] = [FORMAT_16];

/// A number in the header of a file.
pub(super) fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Gives an empty file the application id of this library, and refuses the file of another program.
pub(super) fn claim(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let says = |error| failure::opening(&error, path);
    if number(connection, "application_id").map_err(says)? == APPLICATION_ID {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    if number(&transaction, "application_id").map_err(says)? == APPLICATION_ID {
        return Ok(());
    }
    let version = number(&transaction, "user_version").map_err(says)?;
    if version != 0 || !is_empty(&transaction).map_err(says)? {
        return Err(OpenError::OtherProgram { path: path.to_owned() });
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .and_then(|()| transaction.commit())
        .map_err(says)
}

/// Creates the schema in an empty file, or upgrades an older one.
pub(super) fn prepare(
    transaction: &Transaction<'_>,
    path: &Path,
    key: &DigestKey,
) -> Result<(), OpenError> {
    let says = |error| failure::opening(&error, path);
    let empty = is_empty(transaction).map_err(says)?;
    let found =
        if empty { OLDEST - 1 } else { number(transaction, "user_version").map_err(says)? };
    if !empty {
        check_format(found, path)?;
    }
    run(transaction, &STEPS, found).map_err(says)?;
    if empty {
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .and_then(|()| identity::create(transaction, key))
            .map_err(says)?;
    }
    Ok(())
}

pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| count == 0)
}

/// Runs the steps that a file of format `found` misses; the first step leads to [`OLDEST`].
fn run(transaction: &Transaction<'_>, steps: &[&str], found: i64) -> rusqlite::Result<()> {
    for (format, step) in (OLDEST..).zip(steps).skip_while(|(format, _)| *format <= found) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", format)?;
    }
    Ok(())
}

/// Returns the differences from a new file: triggers and indexes that were added or changed, and
/// indexes that are missing. Triggers that are missing protect from mistakes only.
pub(super) fn compare(found: &Connection) -> rusqlite::Result<Vec<String>> {
    let expected = Connection::open_in_memory()?;
    for step in STEPS {
        expected.execute_batch(step)?;
    }
    let (expected, found) = (objects(&expected)?, objects(found)?);
    let mut problems = Vec::new();
    for ((kind, name), sql) in &found {
        match expected.get(&(kind.clone(), name.clone())) {
            Some(known) if known == sql => {}
            Some(_) => problems.push(format!("the {kind} `{name}` was changed")),
            None if kind == "table" => {}
            None => problems.push(format!("the {kind} `{name}` was added")),
        }
    }
    let missing = expected.keys().filter(|key| key.0 != "trigger" && !found.contains_key(*key));
    problems.extend(missing.map(|(kind, name)| format!("the {kind} `{name}` is missing")));
    Ok(problems)
}

/// Returns the damage that SQLite finds in the pages of the file, and indexes that differ from
/// their tables.
pub(super) fn damage(found: &Connection) -> rusqlite::Result<Option<String>> {
    let rows: Vec<String> = found.all("PRAGMA integrity_check(20)", [], |row| row.get(0))?;
    // A row may have several lines; the first may only name the database.
    let lines = rows.iter().flat_map(|row| row.lines());
    let lines: Vec<_> = lines.filter(|line| *line != "ok" && !line.starts_with("***")).collect();
    Ok((!lines.is_empty()).then(|| {
        format!(
            "the file is damaged: {}; restore it from a backup, or, if only indexes are named, rebuild them with \
             SQLite's `REINDEX`",
            lines.join("; ")
        )
    }))
}

/// Kind and name of everything that statements have made, with the statement.
fn objects(connection: &Connection) -> rusqlite::Result<BTreeMap<(String, String), String>> {
    connection
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?
        .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
        .collect()
}

/// Refuses a format that this program can neither use nor upgrade.
pub(super) fn check_format(found: i64, path: &Path) -> Result<(), OpenError> {
    let path = path.to_owned();
    if found < OLDEST {
        return Err(OpenError::TooOld { path, found, known: OLDEST });
    }
    if found > FORMAT {
        return Err(OpenError::TooNew { path, found, known: FORMAT });
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
