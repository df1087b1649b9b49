//! The operator log.

use rusqlite::params;

use super::{
    cached::{Cached, Keyed},
    journal::bounded,
    value::{Cell, Column, Columns, integer},
};
use crate::{
    clock::Millis,
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Broken, Operated},
        operation::Operation,
    },
};

pub(super) fn log(db: Keyed<'_>, operation: &Operation, now: Millis) -> rusqlite::Result<()> {
    let newest: i64 = db.get(
        // An edit may have made any number of one: there is always a next one.
        "SELECT coalesce(max(no), 0) FROM operation WHERE no BETWEEN 1 AND ?1",
        [i64::MAX - 1],
        |row| row.get(0),
    )?;
    let operation = operation.clone().numbered(newest.cast_unsigned() + 1, now);
    let machines: Vec<u8> = operation.machines.iter().flat_map(|id| *id.bytes()).collect();
    db.run(
        "INSERT INTO operation (no, at, human, via, name, machines, detail, outcome, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            integer(operation.number)?,
            operation.at,
            operation.by,
            operation.via,
            operation.operation,
            machines,
            operation.detail,
            operation.outcome,
            operation.seal(db.key).bytes(),
        ],
    )
}

pub(super) fn operations(
    db: Keyed<'_>,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<Operated>> {
    let sql = "SELECT no, at, human, via, name, machines, detail, outcome, seal FROM operation
               WHERE no BETWEEN 1 AND ?1 ORDER BY no DESC LIMIT ?2";
    let upto = before.map_or(i64::MAX, |before| bounded(before).saturating_sub(1));
    db.all(sql, params![upto, bounded(limit as u64)], |row| {
        let row = Columns(row);
        let number = row.at(0, "no").count().unwrap_or(0);
        let broken = |reason| Broken { id: None, reason, due_at: None };
        Ok((number, operation(row, db.key).map_err(broken)))
    })
}

fn operation(row: Columns<'_, '_>, key: &DigestKey) -> Column<Operation> {
    let number = row.at(0, "no").count()?;
    let read = || {
        let machines = row.at(5, "machines").blob()?.chunks(16).map(<[u8; 16]>::try_from);
        let machines = machines.map(|id| id.map(Id::from_bytes)).collect::<Result<_, _>>();
        Ok(Operation {
            number,
            at: row.at(1, "at").integer()?,
            by: row.at(2, "human").text()?.to_owned(),
            via: row.at(3, "via").text()?.to_owned(),
            operation: row.at(4, "name").text()?.to_owned(),
            machines: machines.map_err(|_| "its column `machines` is not a list of ids")?,
            detail: row.at(6, "detail").text()?.to_owned(),
            outcome: row.at(7, "outcome").optional(Cell::text)?.map(str::to_owned),
        })
    };
    let operation = read().map_err(|reason: String| format!("operation {number}: {reason}"))?;
    if row.at(8, "seal").digest() != Ok(operation.seal(key)) {
        return Err(format!("operation {number} was changed: the seal does not match"));
    }
    Ok(operation)
}
