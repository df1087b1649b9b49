use rusqlite::{Connection, params, types::ToSql};

use super::{
    cached::{Cached, Keyed},
    value::{Cell, Column, Columns, integer},
};
use crate::{
    id::Id,
    journal::{Digest, DigestKey},
    store::{
        backend::{Attempts, Broken},
        write::attempt::{AttemptRow, KeyAttempt},
    },
    stored::Hold,
};

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT no, key, space, action, instance, token, hold, worker, expires_at, seal
             FROM attempt ",
            $which
        )
    };
}

/// The limit is [`SAMPLE`].
pub(super) const OF_TOOL: &str = select!(
    "WHERE space = 'contract' AND substr(key, 1, length(key) - 65) = ?1 AND token > ?2
     ORDER BY token DESC LIMIT 100"
);

/// The attempts that match, oldest first. Each seal is verified.
pub(super) fn read(
    db: Keyed<'_>,
    which: &Attempts,
) -> rusqlite::Result<Vec<Result<AttemptRow, Broken>>> {
    let after = match which {
        Attempts::OfTool(_, after) => integer(*after)?,
        _ => 0,
    };
    let (sql, parameters): (_, &[&dyn ToSql]) = match which {
        Attempts::OfKey(of) => (select!("WHERE key = ?1 ORDER BY no"), &[of]),
        Attempts::OfMachine(id) => (select!("WHERE instance = ?1 ORDER BY no"), &[id.bytes()]),
        Attempts::OfTool(tool, _) => (OF_TOOL, &[tool, &after]),
        // Otherwise SQLite would read every attempt there ever was, to save a sort.
        Attempts::Unanswered => {
            (select!("INDEXED BY attempt_unanswered WHERE worker IS NOT NULL ORDER BY no"), &[])
        }
        Attempts::All => (select!("ORDER BY no"), &[]),
    };
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(parameters)?;
    let mut found = Vec::new();
    let mut before = 0;
    while let Some(row) = rows.next()? {
        let row = Columns(row);
        if matches!(which, Attempts::All) {
            let no = row.at(0, "no").integer().unwrap_or(0);
            if no != before + 1 {
                let reason = format!("an attempt before number {no} is missing");
                found.push(Err(Broken { id: None, reason, due_at: None }));
            }
            before = no;
        }
        let id = row.at(4, "instance").id().ok();
        let stored = stored(row, db.key).map_err(|reason| Broken { id, reason, due_at: None });
        found.push(stored);
    }
    if matches!(which, Attempts::OfTool(..)) {
        found.reverse();
    }
    Ok(found)
}

pub(super) fn tokens(connection: &Connection, no: i64, id: Id) -> rusqlite::Result<Vec<i64>> {
    connection.all(
        "SELECT token FROM attempt INDEXED BY attempt_key
         WHERE key = (SELECT key FROM instance WHERE no = ?1) AND instance = ?2",
        params![no, id.bytes()],
        |row| row.get(0),
    )
}

fn stored(row: Columns<'_, '_>, key: &DigestKey) -> Column<AttemptRow> {
    let attempt = KeyAttempt {
        key: row.at(1, "key").text()?.to_owned(),
        space: row.at(2, "space").text()?.to_owned(),
        action: row.at(3, "action").optional(Cell::digest)?,
        by: row.at(4, "instance").id()?,
        token: row.at(5, "token").count()?,
        hold: Hold::from_number(row.at(6, "hold").integer()?)
            .ok_or_else(|| "its column `hold` is unknown".to_owned())?,
        worker: row.at(7, "worker").optional(Cell::text)?.map(str::to_owned),
        expires_at: row.at(8, "expires_at").optional(Cell::integer)?,
    };
    if attempt.seal(key) != row.at(9, "seal").digest()? {
        return Err("an attempt at its key was changed: the seal does not match".to_owned());
    }
    Ok(AttemptRow { no: row.at(0, "no").integer()?, attempt })
}

pub(super) fn insert(db: Keyed<'_>, attempt: &KeyAttempt) -> rusqlite::Result<()> {
    db.run(
        "INSERT INTO attempt (key, space, action, instance, token, hold, worker, expires_at, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            attempt.key,
            attempt.space,
            attempt.action.as_ref().map(Digest::bytes),
            attempt.by.bytes(),
            integer(attempt.token)?,
            attempt.hold as i64,
            attempt.worker,
            attempt.expires_at,
            attempt.seal(db.key).bytes(),
        ],
    )
}

pub(super) fn update(
    db: Keyed<'_>,
    AttemptRow { no, attempt }: &AttemptRow,
) -> rusqlite::Result<()> {
    let seal = attempt.seal(db.key);
    let hold = attempt.hold as i64;
    db.run(
        "UPDATE attempt SET hold = ?2, worker = ?3, expires_at = ?4, seal = ?5 WHERE no = ?1",
        params![no, hold, attempt.worker, attempt.expires_at, seal.bytes()],
    )
}
