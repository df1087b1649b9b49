use rusqlite::{Connection, params};

use super::{
    cached::Cached,
    definitions::Names,
    readers::ReadConnection,
    row::no_of,
    value::{Cell, Column, Columns},
};
use crate::{
    id::Id,
    journal::{EntryKind, Line, LineRef},
    store::{
        backend::{Broken, Sequenced},
        read::transitions::{Reading, Selected, Transitions},
    },
};

pub(super) fn history(
    reader: &mut ReadConnection,
    id: Id,
    from: u64,
    limit: usize,
) -> rusqlite::Result<Result<Vec<Line>, Broken>> {
    let ReadConnection { connection, names, .. } = reader;
    names.refresh(connection)?;
    let (Some(no), Ok(from)) = (no_of(connection, id)?, i64::try_from(from)) else {
        return Ok(Ok(Vec::new()));
    };
    let lines = connection.all(
        "SELECT number, at, definition, actor, kind, edge, body, digest
         FROM journal WHERE instance = ?1 AND number >= ?2 ORDER BY number LIMIT ?3",
        params![no, from, bounded(limit as u64)],
        |row| Ok(line(Columns(row), names).map(LineRef::to_line)),
    )?;
    let lines: Result<_, _> = lines.into_iter().collect();
    Ok(lines.map_err(|reason| Broken { id: Some(id), reason, due_at: None }))
}

/// The first line creates a machine. An index has the others that are no transitions.
pub(super) const OTHERS: &str = "
    SELECT count(*) FROM journal
    WHERE instance = (SELECT no FROM instance WHERE id = ?1) AND number < ?2 AND kind > 1";

pub(super) fn moves_before(connection: &Connection, id: Id, number: u64) -> rusqlite::Result<u64> {
    let others: i64 =
        connection.get(OTHERS, params![id.bytes(), bounded(number)], |row| row.get(0))?;
    Ok(number.saturating_sub(1).saturating_sub(others.cast_unsigned()))
}

pub(super) fn transitions(
    reader: &mut ReadConnection,
    of: &Selected,
) -> rusqlite::Result<Transitions> {
    let ReadConnection { connection, names, key, .. } = reader;
    names.refresh(connection)?;
    let mut select = connection.prepare_cached(
        "SELECT j.number, j.at, j.definition, j.actor, j.kind, j.edge, j.body, j.digest, i.no, i.id
         FROM instance i JOIN journal j ON j.instance = i.no
         WHERE i.session = ?1 AND i.no >= ?2 AND i.no <= ?3
         AND +i.definition IN (SELECT no FROM definition WHERE machine = ?4)
         ORDER BY i.no, j.number",
    )?;
    let range = [of.first, of.last].map(bounded);
    let mut rows = select.query(params![of.session, range[0], range[1], of.machine])?;
    let mut transitions = Reading::new(*key, of.with_names);
    let (mut machine, mut is_known) = (None, false);
    while let Some(row) = rows.next()? {
        let row = Columns(row);
        let no = row.at(8, "no").integer().ok();
        if no != machine {
            machine = no;
            // A row without an id is reported by what reads the machines.
            let id = row.at(9, "id").id();
            is_known = id.is_ok();
            if let Ok(id) = id {
                transitions.begin(id);
            }
        }
        if is_known {
            transitions.add(line(row, names));
        }
    }
    Ok(transitions.finish())
}

pub(super) fn entries(
    reader: &mut ReadConnection,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<Sequenced>> {
    let ReadConnection { connection, names, .. } = reader;
    names.refresh(connection)?;
    let sql = "SELECT j.number, j.at, j.definition, j.actor, j.kind, j.edge, j.body, j.digest,
                j.seq, j.chain, i.id, j.instance
         FROM journal j LEFT JOIN instance i ON i.no = j.instance
         WHERE j.seq > ?1 ORDER BY j.seq LIMIT ?2";
    connection.all(sql, params![bounded(after), bounded(limit as u64)], |row| {
        let row = Columns(row);
        let id = row.at(10, "id").id().ok();
        let chain = row.at(9, "chain").optional(Cell::digest);
        let line = line(row, names).and_then(|line| match &chain {
            Ok(_) if id.is_none() => Err(match row.at(11, "instance").integer() {
                Ok(number) => format!("machine number {number} is missing from the file"),
                Err(reason) => reason,
            }),
            Ok(_) => Ok(line.to_line()),
            Err(reason) => Err(reason.clone()),
        });
        Ok(Sequenced {
            // Greater than `after`, so not negative.
            seq: row.at(8, "seq").count().unwrap_or(0),
            id,
            line: line.map_err(|reason| Broken { id, reason, due_at: None }),
            chain: chain.unwrap_or(None),
        })
    })
}

pub(super) fn newest(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT max(seq) FROM journal";
    let newest = connection.get(sql, [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(newest.and_then(|newest| u64::try_from(newest).ok()).unwrap_or(0))
}

fn line<'a>(row: Columns<'a, '_>, names: &Names) -> Column<LineRef<'a>> {
    let edge = row.at(5, "edge").optional(Cell::integer)?;
    Ok(LineRef {
        number: row.at(0, "number").count()?,
        at: row.at(1, "at").integer()?,
        actor: row.at(3, "actor").optional(Cell::text)?,
        definition: names.get(row.at(2, "definition").integer()?)?.fingerprint,
        kind: EntryKind::from_number(row.at(4, "kind").integer()?)
            .ok_or_else(|| "its column `kind` is unknown".to_owned())?,
        edge: edge
            .map(u32::try_from)
            .transpose()
            .map_err(|_| "its column `edge` is out of range".to_owned())?,
        body: row.at(6, "body").optional(Cell::text)?,
        digest: row.at(7, "digest").digest()?,
    })
}

pub(super) fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
