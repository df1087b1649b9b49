//! Calls as lists of machines need them: from their rows alone.

use rusqlite::params;

use super::{
    cached::{Cached, Keyed},
    call::{CALL, has_taken},
    child::related,
    journal::bounded,
    value::{Cell, Column, Columns},
};
use crate::{
    id::Id,
    store::backend::{Broken, CallLine},
    stored::CallState,
};

pub(super) fn of_entry() -> String {
    format!(
        "SELECT c.since, c.position, c.seal, x.id, x.status, x.ended, x.behind IS NOT NULL,
                (SELECT g.status FROM instance g WHERE g.id = x.behind), {}
         FROM instance p CROSS JOIN child c INDEXED BY child_call
         ON c.parent = p.no AND c.since = ?2 AND c.position IS NOT NULL
         LEFT JOIN instance x ON x.no = c.child
         WHERE p.id = ?1 ORDER BY c.position",
        in_doubt()
    )
}

/// Returns whether the row `x` of a call says that it is in doubt. A summary that is no JSON does
/// not.
pub(super) fn in_doubt() -> String {
    let (name, verdict) = CallState::IN_DOUBT;
    format!(
        "COALESCE(CASE WHEN json_valid(x.summary)
                  THEN json_extract(x.summary, '$.context.{name}') END = '{verdict}', 0)"
    )
}

pub(super) fn of(
    db: Keyed<'_>,
    entries: &[(Id, u64)],
) -> rusqlite::Result<Vec<Result<CallLine, Broken>>> {
    let (sql, mut lines) = (of_entry(), Vec::new());
    for &(parent, since) in entries {
        lines.extend(db.all(&sql, params![parent.bytes(), bounded(since)], |row| {
            Ok(match read(Columns(row), db, parent) {
                Ok((id, mut line)) => {
                    if line.live.is_none() {
                        line.is_taken = has_taken(db, parent, id)?.unwrap_or_default();
                    }
                    Ok(line)
                }
                Err(reason) => Err(Broken { id: Some(parent), reason, due_at: None }),
            })
        })?);
    }
    Ok(lines)
}

fn read(row: Columns<'_, '_>, db: Keyed<'_>, parent: Id) -> Column<(Id, CallLine)> {
    let (id, _) = related(row, db.key, parent, CALL)?;
    let has_gate = row.at(6, "behind").flag()?;
    let gate = row.at(7, "gate").optional(Cell::text)?.unwrap_or_default();
    let gate = has_gate.then(|| gate.to_owned());
    let state = CallState {
        status: row.at(4, "status").text()?.to_owned(),
        gate,
        in_doubt: row.at(8, "in doubt").flag()?,
    };
    let live = (!row.at(5, "ended").flag()?).then_some(state);
    Ok((id, CallLine { parent, live, is_taken: false }))
}
