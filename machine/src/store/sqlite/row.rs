use rusqlite::Connection;

use super::{
    cached::Cached,
    definitions::Names,
    value::{Cell, Column, Columns},
};
use crate::{
    id::Id,
    journal::Digest,
    store::backend::{Broken, FoundRow, Row},
};

/// The columns of a row for a list. The names of the table are `i` and, for whole rows, `c`.
pub(super) const LIST: &str = "
    SELECT i.no, i.id, i.definition, i.status, i.version, i.epoch, i.created_at, i.updated_at,
           i.due_at, i.session, i.key, i.behind, i.commit_id, i.seal, i.ended,
           (SELECT g.status FROM instance g WHERE g.id = i.behind), i.contradicted
    FROM instance i";

/// All columns of a row, its context, and the digest of its newest line. Its place is only a hint:
/// the line must be the right one. (The plus signs keep SQLite from choosing the index.)
pub(super) const WHOLE: &str = "
    SELECT i.no, i.id, i.definition, i.status, i.version, i.epoch, i.created_at, i.updated_at,
           i.due_at, i.session, i.key, i.behind, i.commit_id, i.seal, i.ended,
           (SELECT g.status FROM instance g WHERE g.id = i.behind), i.contradicted, i.summary, i.state,
           c.body, j.digest
    FROM instance i LEFT JOIN context c ON c.instance = i.no
    LEFT JOIN journal j
    ON j.seq = i.newest AND +j.instance = i.no AND +j.number = i.version - 1";

/// The machine that a row was selected for, and what is in it. What is wrong in a row concerns that
/// machine only.
pub(super) fn found(row: Columns<'_, '_>, names: &Names, whole: bool) -> (u64, FoundRow) {
    let no = row.at(0, "no").integer().map_or(0, |no| u64::try_from(no).unwrap_or(0));
    let id = row.at(1, "id").id();
    let found = match id.clone().and_then(|id| read(row, id, names, whole)) {
        Ok((row, digest)) => FoundRow::Row(row, digest),
        Err(reason) => {
            let due_at = row.at(8, "due_at").integer().ok();
            FoundRow::Broken(Broken { id: id.ok(), reason, due_at })
        }
    };
    (no, found)
}

fn read(row: Columns<'_, '_>, id: Id, names: &Names, whole: bool) -> Column<(Row, Option<Digest>)> {
    let name = names.get(row.at(2, "definition").integer()?)?;
    let (mut summary, mut state) = ("", "");
    let (mut context, mut digest) = (None, None);
    if whole {
        summary = row.at(17, "summary").text()?;
        state = row.at(18, "state").text()?;
        context = row.at(19, "context").optional(Cell::text)?.map(Into::into);
        digest = row.at(20, "digest").optional(Cell::digest)?;
    }
    let row = Row {
        id,
        machine: name.machine.clone(),
        definition: name.fingerprint,
        status: row.at(3, "status").text()?.to_owned(),
        version: row.at(4, "version").count()?,
        epoch: row.at(5, "epoch").count()?,
        created_at: row.at(6, "created_at").integer()?,
        updated_at: row.at(7, "updated_at").integer()?,
        ended: row.at(14, "ended").flag()?,
        contradicted: row.at(16, "contradicted").flag()?,
        due_at: row.at(8, "due_at").optional(Cell::integer)?,
        session: row.at(9, "session").optional(Cell::text)?.map(str::to_owned),
        key: row.at(10, "key").optional(Cell::text)?.map(str::to_owned),
        behind: row.at(11, "behind").optional(Cell::id)?,
        // A defect in the row of the gate concerns the gate only.
        gate: row.at(15, "gate").optional(Cell::text).ok().flatten().map(str::to_owned),
        commit_id: row.at(12, "commit_id").integer()?,
        seal: row.at(13, "seal").digest()?,
        state: state.to_owned(),
        summary: summary.to_owned(),
        context,
    };
    Ok((row, digest))
}

pub(super) fn no_of(connection: &Connection, id: Id) -> rusqlite::Result<Option<i64>> {
    connection.find("SELECT no FROM instance WHERE id = ?1", [id.bytes()], |row| row.get(0))
}

pub(super) fn of(
    connection: &Connection,
    names: &mut Names,
    ids: &[Id],
) -> rusqlite::Result<Vec<FoundRow>> {
    names.refresh(connection)?;
    let sql = format!("{WHOLE} WHERE i.id = ?1");
    let one = |&id: &Id| {
        let row =
            connection.find(&sql, [id.bytes()], |row| Ok(found(Columns(row), names, true).1))?;
        Ok(row.unwrap_or(FoundRow::Missing(id)))
    };
    ids.iter().map(one).collect()
}
