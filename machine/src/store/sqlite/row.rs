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
    let no = row.integer(0, "no").map_or(0, |no| u64::try_from(no).unwrap_or(0));
    let id = row.id(1, "id");
    let found = match id.clone().and_then(|id| read(row, id, names, whole)) {
        Ok((row, digest)) => FoundRow::Row(row, digest),
        Err(reason) => {
            let due_at = row.integer(8, "due_at").ok();
            FoundRow::Broken(Broken { id: id.ok(), reason, due_at })
        }
    };
    (no, found)
}

fn read(row: Columns<'_, '_>, id: Id, names: &Names, whole: bool) -> Column<(Row, Option<Digest>)> {
    let name = names.get(row.integer(2, "definition")?)?;
    let (mut summary, mut state) = ("", "");
    let (mut context, mut digest) = (None, None);
    if whole {
        summary = row.text(17, "summary")?;
        state = row.text(18, "state")?;
        context = row.optional(19, "context", Cell::text)?.map(Into::into);
        digest = row.optional(20, "digest", Cell::digest)?;
    }
    let row = Row {
        id,
        machine: name.machine.clone(),
        definition: name.fingerprint,
        status: row.text(3, "status")?.to_owned(),
        version: row.count(4, "version")?,
        epoch: row.count(5, "epoch")?,
        created_at: row.integer(6, "created_at")?,
        updated_at: row.integer(7, "updated_at")?,
        ended: row.flag(14, "ended")?,
        contradicted: row.flag(16, "contradicted")?,
        due_at: row.optional(8, "due_at", Cell::integer)?,
        session: row.optional(9, "session", Cell::text)?.map(str::to_owned),
        key: row.optional(10, "key", Cell::text)?.map(str::to_owned),
        behind: row.optional(11, "behind", Cell::id)?,
        // A defect in the row of the gate concerns the gate only.
        gate: row.optional(15, "gate", Cell::text).ok().flatten().map(str::to_owned),
        commit_id: row.integer(12, "commit_id")?,
        seal: row.digest(13, "seal")?,
        state: state.to_owned(),
        summary: summary.to_owned(),
        context,
    };
    Ok((row, digest))
}

/// The number of a machine.
pub(super) fn no_of(connection: &Connection, id: Id) -> rusqlite::Result<Option<i64>> {
    connection.find("SELECT no FROM instance WHERE id = ?1", [id.bytes()], |row| row.get(0))
}

/// The whole rows of some machines, in this order.
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
