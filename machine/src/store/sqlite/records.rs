//! The rows of records.

use rusqlite::{Connection, Row, ToSql, params};

use super::{
    cached::{Cached, Keyed},
    journal::bounded,
    value::{Cell, Column, Columns, integer},
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::backend::{Broken, Record, Records},
};

macro_rules! select {
    ($which:literal) => {
        concat!("SELECT kind, id, version, list, body, seal FROM record ", $which)
    };
}

const OF_ID: &str = select!("WHERE kind = ?1 AND id = ?2");

pub(super) const LISTED: &str = select!(
    "WHERE kind = ?1 AND list = ?2
         AND no > COALESCE((SELECT no FROM record WHERE kind = ?1 AND id = ?4), 0)
     ORDER BY no LIMIT ?3"
);

const ALL: &str = select!("ORDER BY no");

/// The records that match. Each seal is verified.
pub(super) fn read(
    db: Keyed<'_>,
    which: &Records,
) -> rusqlite::Result<Vec<Result<Record, Broken>>> {
    let all = |sql: &str, values: &[&dyn ToSql]| db.all(sql, values, |row| Ok(sound(row, db.key)));
    match which {
        Records::Of(ids) => {
            let mut found = Vec::with_capacity(ids.len());
            for (kind, id) in ids {
                found.extend(all(OF_ID, &[kind, id.bytes()])?);
            }
            Ok(found)
        }
        Records::Listed { kind, list, after, limit } => {
            let (after, limit) = (after.as_ref().map(Id::bytes), bounded(*limit as u64));
            all(LISTED, &[kind, list, &limit, &after])
        }
        #[cfg(test)]
        Records::All => all(ALL, &[]),
        Records::Broken => {
            let mut select = db.prepare_cached(ALL)?;
            let mut rows = select.query([])?;
            let mut broken = Vec::new();
            while let Some(row) = rows.next()? {
                broken.extend(sound(row, db.key).err().map(Err));
            }
            Ok(broken)
        }
    }
}

fn sound(row: &Row<'_>, key: &DigestKey) -> Result<Record, Broken> {
    let row = Columns(row);
    let id = row.at(1, "id").id().ok();
    record(row, key).map_err(|reason| Broken { id, reason, due_at: None })
}

fn record(row: Columns<'_, '_>, key: &DigestKey) -> Column<Record> {
    let record = Record {
        kind: row.at(0, "kind").text()?.to_owned(),
        id: row.at(1, "id").id()?,
        version: row.at(2, "version").count()?,
        list: row.at(3, "list").optional(Cell::text)?.map(str::to_owned),
        body: row.at(4, "body").text()?.to_owned(),
    };
    if record.seal(key) != row.at(5, "seal").digest()? {
        return Err(format!("its record `{}` was changed: the seal does not match", record.kind));
    }
    Ok(record)
}

/// The version of a record; 0 if there is none.
pub(super) fn version(connection: &Connection, kind: &str, id: Id) -> rusqlite::Result<u64> {
    let sql = "SELECT version FROM record WHERE kind = ?1 AND id = ?2";
    let version = connection.find(sql, params![kind, id.bytes()], |row| row.get::<_, i64>(0))?;
    // A negative version is the result of an edit. No write follows the last one.
    Ok(version.map_or(0, |version| u64::try_from(version).unwrap_or(u64::MAX)))
}

pub(super) fn write(db: Keyed<'_>, record: &Record) -> rusqlite::Result<()> {
    let Record { kind, id, version, list, body } = record;
    let (version, seal) = (integer(*version)?, record.seal(db.key));
    let values = params![kind, id.bytes(), version, list, body, seal.bytes()];
    if record.version == 1 {
        return db.run(
            "INSERT INTO record (kind, id, version, list, body, seal)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            values,
        );
    }
    db.run(
        "UPDATE record SET version = ?3, list = ?4, body = ?5, seal = ?6
             WHERE kind = ?1 AND id = ?2",
        values,
    )
}
