//! The members of invocations.

use rusqlite::{ToSql, params};

use super::{
    attempts,
    cached::{Cached, Keyed},
    child, ready,
    select::ENTERED,
    value::{Column, Columns},
};
use crate::{
    id::Id,
    store::{
        backend::{Attempts, Broken, CallRow, Kinship, Messages},
        inbox::{message::Delivery, outcome::outcome_of},
        write::under_way::CALLS,
    },
    stored::Hold,
};

pub(super) const OF_ENTRY: &str = "
    SELECT c.since, c.position, c.seal, i.id, i.status, i.ended, i.summary
    FROM instance p CROSS JOIN child c INDEXED BY child_call
    ON c.parent = p.no AND c.since = ?2 AND c.position IS NOT NULL
    LEFT JOIN instance i ON i.no = c.child
    WHERE p.id = ?1 ORDER BY c.position";

pub(super) const OF_KEY: &str = "
    SELECT c.since, c.position, c.seal, i.id, i.status, i.ended, i.summary
    FROM instance i INDEXED BY instance_key CROSS JOIN child c ON c.child = i.no
    CROSS JOIN instance p ON p.no = c.parent
    WHERE i.key = ?2 AND p.id = ?1 AND c.position IS NOT NULL ORDER BY i.no";

/// The calls of a machine that have not ended. Those that have are compared in two indexes and not
/// read: however long the machine lives, its rows stay on disk.
pub(super) const LIVE: &str = "
    SELECT i.id FROM instance p CROSS JOIN definition d CROSS JOIN child c INDEXED BY child_call
    ON c.parent = p.no AND c.position IS NOT NULL
    CROSS JOIN instance i INDEXED BY instance_live
    ON i.definition = d.no AND i.no = c.child AND i.ended = 0
    WHERE p.id = ?1 AND d.machine = ?2";

/// The senders of the outcomes in the inbox of a machine that it has not taken. Those that were set
/// aside are tried again when a person says so.
pub(super) const UNTAKEN: [&str; 2] = [
    "SELECT m.name FROM instance p CROSS JOIN message m INDEXED BY message_queued
     ON m.instance = p.no AND m.status = 0 WHERE p.id = ?1 AND m.actor = ?2",
    "SELECT m.name FROM instance p CROSS JOIN message m INDEXED BY message_set_aside
     ON m.instance = p.no AND m.status = 2 WHERE p.id = ?1 AND m.actor = ?2",
];

/// The number of the entry that came into the state of a machine, if another one is a call.
pub(super) fn entered_of() -> String {
    format!(
        "SELECT CAST({ENTERED} AS INTEGER)
         FROM instance i CROSS JOIN instance x CROSS JOIN definition d ON d.no = x.definition
         WHERE i.id = ?1 AND x.id = ?2 AND d.machine = ?3"
    )
}

/// The calls of a machine by [`OF_ENTRY`] or [`OF_KEY`].
pub(super) fn select(
    db: Keyed<'_>,
    sql: &str,
    parent: Id,
    by: &dyn ToSql,
) -> rusqlite::Result<Vec<Result<CallRow, Broken>>> {
    db.all(sql, params![parent.bytes(), by], |row| match read(Columns(row), db, parent) {
        Ok(call) => complete(db, parent, call),
        Err(reason) => Ok(Err(Broken { id: Some(parent), reason, due_at: None })),
    })
}

/// For [`child::related`].
pub(super) const CALL: [&str; 2] = ["call", "calls"];

/// A call, without its attempt and its outcome.
fn read(row: Columns<'_, '_>, db: Keyed<'_>, parent: Id) -> Column<CallRow> {
    let (id, Kinship { since, position, .. }) = child::related(row, db.key, parent, CALL)?;
    Ok(CallRow {
        id,
        since,
        // The queries select only those with one.
        position: position.unwrap_or_default(),
        status: row.at(4, "status").text()?.to_owned(),
        ended_at: CallRow::ended_at(row.at(5, "ended").flag()?, row.at(6, "summary").text()?),
        hold: Hold::Free,
        action: None,
        outcome: None,
    })
}

fn complete(
    db: Keyed<'_>,
    parent: Id,
    mut call: CallRow,
) -> rusqlite::Result<Result<CallRow, Broken>> {
    match attempts::read(db, &Attempts::OfMachine(call.id))?.pop() {
        Some(Ok(newest)) => (call.hold, call.action) = (newest.attempt.hold, newest.attempt.action),
        Some(Err(broken)) => return Ok(Err(broken)),
        None => {}
    }
    let outcome = ready::messages(db, &Messages::One(parent, outcome_of(call.id)))?.pop();
    Ok(outcome.transpose().map(|outcome| {
        call.outcome = outcome.map(|message| message.status);
        call
    }))
}

/// Returns whether a machine has taken the outcome of a call; `None` if that was not sent. A status
/// that was edited takes nothing.
pub(super) fn has_taken(db: Keyed<'_>, parent: Id, call: Id) -> rusqlite::Result<Option<bool>> {
    let found = ready::messages(db, &Messages::One(parent, outcome_of(call)))?.pop();
    Ok(found.map(|found| found.is_ok_and(|received| received.status == Delivery::Handled)))
}

/// Returns whether a machine that has ended is a call, and over for its parent. An edit of the file
/// frees none.
pub(super) fn is_over(db: Keyed<'_>, id: Id) -> rusqlite::Result<bool> {
    let Ok(Some(kinship)) = child::find(db, id)? else { return Ok(false) };
    let parameters = params![kinship.parent.bytes(), id.bytes(), CALLS];
    let entered: Option<i64> = db.find(&entered_of(), parameters, |row| row.get(0))?;
    let Some(entered) = entered.and_then(|it| u64::try_from(it).ok()) else { return Ok(false) };
    let is_taken = has_taken(db, kinship.parent, id)?.unwrap_or_default();
    Ok(kinship.is_over(entered, is_taken))
}
