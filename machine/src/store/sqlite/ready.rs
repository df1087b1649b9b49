//! Reads for workers: ready machines, and queued messages.

use rusqlite::{Connection, ToSql, params};

use super::{
    cached::{Cached, Keyed},
    journal::bounded,
    message::fault,
    readers::ReadConnection,
    row,
    value::{Cell, Column, Columns},
    work::{WORK, count, read_work, work_of},
};
use crate::{
    clock::Millis,
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Broken, FoundRow, Messages, ReadyMachine, Schedules, WorkRows},
        inbox::{
            message::{Delivery, Outgoing, Queued, Received, seal_of_status},
            protocol::{Cause, MessageState, Schedule, Wake},
        },
    },
};

pub(super) fn ready(
    connection: &Connection,
    kinds: &[String],
    limit: usize,
    now: Millis,
    ended: &[String],
) -> rusqlite::Result<Vec<ReadyMachine>> {
    let by = |index: &str, [wake_at, worker, set_at]: [&str; 3], which: &str| {
        format!(
            "SELECT i.id, w.token, w.news, {wake_at}, {worker}, w.attempts + w.deadline_attempts,
                    {set_at}
             FROM driven d JOIN work w INDEXED BY {index} ON w.driven = d.no
             JOIN instance i ON i.no = w.instance WHERE d.machine = ?1 AND {which} LIMIT ?2"
        )
    };
    let own = ["w.wake_at", "w.worker", "w.set_at"];
    // None, unless the clock went back.
    let from_later = by("work_set_at", own, "w.set_at > ?3 ORDER BY w.set_at");
    let others = ["w.others_at", "NULL", "w.others_at"];
    let for_others = by("work_others_at", others, "w.others_at IS NOT NULL ORDER BY w.others_at");
    let by_time = by("work_wake_at", own, "w.wake_at IS NOT NULL ORDER BY w.wake_at");
    let of_ended = by("work_worker", own, "w.worker = ?3");
    let limit = bounded(limit as u64);
    let mut all = Vec::new();
    for kind in kinds {
        all.extend(connection.all(&from_later, params![kind, limit, now], line)?);
        all.extend(connection.all(&for_others, params![kind, limit], line)?);
        all.extend(connection.all(&by_time, params![kind, limit], line)?);
    }
    for worker in ended {
        for kind in kinds {
            all.extend(connection.all(&of_ended, params![kind, limit, worker], line)?);
        }
    }
    Ok(all)
}

fn line(row: &rusqlite::Row<'_>) -> rusqlite::Result<ReadyMachine> {
    Ok(ReadyMachine {
        id: Id::from_bytes(row.get(0)?),
        token: row.get::<_, i64>(1)?.cast_unsigned(),
        revision: row.get::<_, i64>(2)?.cast_unsigned(),
        wake: Wake { at: row.get(3)?, set_at: row.get(6)? },
        worker: row.get(4)?,
        attempts: count(row, 5)?,
    })
}

pub(super) fn lease_holders(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .all("SELECT DISTINCT worker FROM work WHERE worker IS NOT NULL", [], |row| row.get(0))
}

pub(super) fn schedules(
    connection: &Connection,
    which: Schedules,
) -> rusqlite::Result<Vec<(Id, Schedule)>> {
    let limit = match which {
        Schedules::Crowded(limit) | Schedules::Stuck(_, limit) => bounded(limit as u64),
        Schedules::Failing | Schedules::Miscounted => i64::MAX,
    };
    let (which, values): (_, Vec<&dyn ToSql>) = match &which {
        Schedules::Failing => (FAILING, Vec::new()),
        Schedules::Crowded(_) => (CROWDED, vec![&limit]),
        Schedules::Stuck(before, _) => (STUCK, vec![&limit, before]),
        Schedules::Miscounted => (MISCOUNTED, Vec::new()),
    };
    connection.all(&format!("SELECT {WORK}, i.id FROM work w {which}"), &values[..], |row| {
        Ok((Id::from_bytes(row.get("id")?), work_of(row)?))
    })
}

pub(super) const FAILING: &str = "
    INDEXED BY work_failed JOIN instance i ON i.no = w.instance
    WHERE w.error IS NOT NULL ORDER BY w.instance";

/// The number is that of the index.
pub(super) const CROWDED: &str = "
    INDEXED BY work_queued JOIN instance i ON i.no = w.instance
    WHERE w.queued > 1000 ORDER BY w.queued DESC LIMIT ?1";

pub(super) const STUCK: &str = "
    INDEXED BY work_stuck JOIN instance i ON i.no = w.instance
    WHERE w.stuck_at <= ?2 ORDER BY w.stuck_at LIMIT ?1";

const MISCOUNTED: &str = "
    JOIN instance i ON i.no = w.instance
    WHERE w.queued <> (SELECT count(*) FROM message m WHERE m.instance = w.instance AND m.status = 0)";

pub(super) fn task(reader: &mut ReadConnection, id: Id) -> rusqlite::Result<WorkRows> {
    let found = row::of(&reader.connection, &mut reader.names, &[id])?.pop();
    let found = found.unwrap_or(FoundRow::Missing(id));
    let Some(no) = row::no_of(&reader.connection, id)? else {
        return Ok((found, None, Vec::new()));
    };
    let work = read_work(&reader.connection, no)?;
    let sql =
        "SELECT correlation, actor, trigger, attempts, error, cause, status_seal, seal, sent_at
         FROM message INDEXED BY message_queued WHERE instance = ?1 AND status = 0 ORDER BY no";
    let queued = reader.connection.all(sql, [no], |row| {
        let correlation: String = row.get(0)?;
        let seal: [u8; 32] = row.get(6).unwrap_or_default();
        let sent: [u8; 32] = row.get(7).unwrap_or_default();
        let status = Delivery::Queued;
        Ok(Queued {
            intact: *seal_of_status(&reader.key, &sent, status).bytes() == seal,
            correlation,
            actor: row.get(1)?,
            trigger: row.get(2)?,
            sent_at: row.get(8)?,
            attempts: count(row, 3)?,
            fault: fault(row, 4)?,
        })
    })?;
    Ok((found, work, queued))
}

const RECEIVED: &str = "
    SELECT i.id, m.correlation, m.actor, m.name, m.body, m.sent_at, m.status, m.attempts, m.error,
           m.seal, m.status_seal, m.trigger, m.seen, m.replaced, m.cause
    FROM message m";

pub(super) fn messages(
    db: Keyed<'_>,
    which: &Messages,
) -> rusqlite::Result<Vec<Result<Received, Broken>>> {
    let limit = match which {
        Messages::Queued(_, limit) => bounded(*limit as u64),
        _ => i64::MAX,
    };
    let (which, parameters): (_, Vec<&dyn ToSql>) = match which {
        Messages::One(id, correlation) => (
            "JOIN instance i ON i.no = m.instance
             WHERE i.id = ?1 AND m.correlation = ?2 AND m.replaced = 0",
            vec![id.bytes(), correlation],
        ),
        Messages::To(id) => {
            ("JOIN instance i ON i.no = m.instance WHERE i.id = ?1 ORDER BY m.no", vec![id.bytes()])
        }
        Messages::All => ("LEFT JOIN instance i ON i.no = m.instance ORDER BY m.no", Vec::new()),
        Messages::SetAside => (
            "INDEXED BY message_set_aside JOIN instance i ON i.no = m.instance
             WHERE m.status = 2 ORDER BY m.no",
            Vec::new(),
        ),
        Messages::SetAsideOf(id) => (
            "INDEXED BY message_set_aside JOIN instance i ON i.no = m.instance
             WHERE m.status = 2 AND i.id = ?1 ORDER BY m.no",
            vec![id.bytes()],
        ),
        Messages::Queued(before, _) => (
            "INDEXED BY message_queued JOIN instance i ON i.no = m.instance
             WHERE m.status = 0 AND m.sent_at <= ?1 ORDER BY m.no LIMIT ?2",
            vec![before, &limit],
        ),
    };
    let sql = format!("{RECEIVED} {which}");
    db.all(&sql, &parameters[..], |row| {
        let row = Columns(row);
        let id = row.at(0, "instance").id().ok();
        Ok(received(row, db.key).map_err(|reason| Broken { id, reason, due_at: None }))
    })
}

/// A message, if it is as it was sent.
fn received(row: Columns<'_, '_>, key: &DigestKey) -> Column<Received> {
    let sent = Outgoing {
        correlation: row.at(1, "correlation").text()?.to_owned(),
        actor: row.at(2, "actor").text()?.to_owned(),
        name: row.at(3, "name").optional(Cell::text)?.map(str::to_owned),
        body: row.at(4, "body").text()?.to_owned(),
        seen: row.at(12, "seen").optional(Cell::count)?,
    };
    let (to, sent_at) = (row.at(0, "instance").id()?, row.at(5, "sent_at").integer()?);
    let (seal, which) = (sent.seal(key, to, sent_at), || crate::id::shortened(&sent.correlation));
    if row.at(9, "seal").digest() != Ok(seal) {
        return Err(format!("the message `{}` was changed: its seal does not match", which()));
    }
    let status = Delivery::from_number(row.at(6, "status").integer()?);
    let status = status.filter(|status| {
        let seal = seal_of_status(key, seal.bytes(), *status);
        row.at(10, "status_seal").digest() == Ok(seal)
    });
    // Its correlation id is free only if it was replaced.
    let frees_id = row.at(13, "replaced").integer()? != 0;
    let status = status.filter(|status| (*status == Delivery::Replaced) == frees_id);
    let status =
        status.ok_or_else(|| format!("the status of the message `{}` was changed", which()))?;
    if row.at(11, "trigger").optional(Cell::text)? != sent.trigger().as_deref() {
        return Err(format!("the trigger of the message `{}` was changed", which()));
    }
    let cause = row.at(14, "cause").optional(Cell::integer)?;
    let attempts = u32::try_from(row.at(7, "attempts").count()?).unwrap_or(u32::MAX);
    let state = MessageState { status, attempts, ..MessageState::default() };
    Ok(Received {
        error: row.at(8, "error").optional(Cell::text)?.map(str::to_owned),
        cause: cause.map(|cause| Cause::from_number(Some(cause))),
        ..Received::of(to, sent, sent_at, state)
    })
}
