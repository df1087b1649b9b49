//! Reads for workers: the agenda, and the messages that wait.

use rusqlite::{Connection, params};

use super::{
    message::fault,
    readers::Reader,
    row,
    value::{Cell, Columns, Read},
    work::{WORK, count, read_work, work_of},
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Agenda, Broken, Child, Found, Messages, Task},
        inbox::{
            message::{Outgoing, Queued, Received, seal_of_child, seal_of_status},
            protocol::{Cause, MessageStatus, Work},
        },
    },
};

pub(super) fn agenda(
    connection: &Connection,
    kinds: &[String],
    limit: usize,
    ended: &[String],
) -> rusqlite::Result<Vec<Agenda>> {
    let mut select = connection.prepare_cached(
        "SELECT i.id, w.token, w.news, w.wake_at, w.worker, w.attempts + w.deadline_attempts
         FROM driven d JOIN work w INDEXED BY work_wake_at ON w.driven = d.no
         JOIN instance i ON i.no = w.instance
         WHERE d.machine = ?1 AND w.wake_at IS NOT NULL ORDER BY w.wake_at LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    for kind in kinds {
        let mut rows = select.query(params![kind, limit])?;
        while let Some(row) = rows.next()? {
            all.push(line(row)?);
        }
    }
    let mut select = connection.prepare_cached(
        "SELECT i.id, w.token, w.news, w.wake_at, w.worker, w.attempts + w.deadline_attempts
         FROM work w INDEXED BY work_worker JOIN instance i ON i.no = w.instance
         JOIN driven d ON d.no = w.driven
         WHERE w.worker = ?1 AND d.machine = ?2 LIMIT ?3",
    )?;
    for (worker, kind) in
        ended.iter().flat_map(|worker| kinds.iter().map(move |kind| (worker, kind)))
    {
        let mut rows = select.query(params![worker, kind, limit])?;
        while let Some(row) = rows.next()? {
            all.push(line(row)?);
        }
    }
    Ok(all)
}

fn line(row: &rusqlite::Row<'_>) -> rusqlite::Result<Agenda> {
    Ok(Agenda {
        id: Id::from_bytes(row.get(0)?),
        token: row.get::<_, i64>(1)?.cast_unsigned(),
        news: row.get::<_, i64>(2)?.cast_unsigned(),
        at: row.get(3)?,
        worker: row.get(4)?,
        attempts: count(row, 5)?,
    })
}

pub(super) fn holders(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT DISTINCT worker FROM work WHERE worker IS NOT NULL")?
        .query_map([], |row| row.get(0))?
        .collect()
}

pub(super) fn failing(connection: &Connection) -> rusqlite::Result<Vec<(Id, Work)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {WORK}, i.id FROM work w INDEXED BY work_failed
             JOIN instance i ON i.no = w.instance WHERE w.error IS NOT NULL ORDER BY w.instance"
        ))?
        .query_map([], |row| Ok((Id::from_bytes(row.get("id")?), work_of(row)?)))?
        .collect()
}

pub(super) fn children(
    connection: &Connection,
    key: &DigestKey,
    parent: Id,
) -> rusqlite::Result<Vec<Result<Child, Broken>>> {
    let mut select = connection.prepare_cached(
        "SELECT i.id, d.machine, i.status, i.ended, c.seal
         FROM child c JOIN instance p ON p.no = c.parent LEFT JOIN instance i ON i.no = c.child
         LEFT JOIN definition d ON d.no = i.definition
         WHERE p.id = ?1 ORDER BY c.child",
    )?;
    let mut rows = select.query([parent.bytes()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let child = child(Columns(row), key, parent);
        all.push(child.map_err(|reason| Broken { id: Some(parent), reason, due_at: None }));
    }
    Ok(all)
}

/// The parent of a machine, if that was made one by this library.
pub(super) fn parent(
    connection: &Connection,
    key: &DigestKey,
    child: Id,
) -> rusqlite::Result<Result<Option<Id>, Broken>> {
    let mut select = connection.prepare_cached(
        "SELECT p.id, c.seal FROM instance i JOIN child c ON c.child = i.no
         JOIN instance p ON p.no = c.parent WHERE i.id = ?1",
    )?;
    let mut rows = select.query([child.bytes()])?;
    let Some(row) = rows.next()? else { return Ok(Ok(None)) };
    let row = Columns(row);
    let parent = row.id(0, "id").and_then(|parent| {
        if row.digest(1, "seal")? == seal_of_child(key, child, parent) {
            return Ok(Some(parent));
        }
        Err(format!("it was made a child of {parent} by an edit: the seal does not match"))
    });
    Ok(parent.map_err(|reason| Broken { id: Some(child), reason, due_at: None }))
}

/// A child, if it was made one by this library.
fn child(row: Columns<'_, '_>, key: &DigestKey, parent: Id) -> Read<Child> {
    let id = row.id(0, "id").map_err(|_| "one of its children is missing".to_owned())?;
    if row.digest(4, "seal")? != seal_of_child(key, id, parent) {
        return Err(format!("{id} was made its child by an edit: the seal does not match"));
    }
    Ok(Child {
        id,
        machine: row.text(1, "machine")?.to_owned(),
        status: row.text(2, "status")?.to_owned(),
        has_ended: row.flag(3, "ended")?,
    })
}

pub(super) fn task(reader: &mut Reader, id: Id) -> rusqlite::Result<Task> {
    let found = row::of(&reader.connection, &mut reader.names, &[id])?.pop();
    let found = found.unwrap_or(Found::Missing(id));
    let no = reader
        .connection
        .prepare_cached("SELECT no FROM instance WHERE id = ?1")?
        .query_map([id.bytes()], |row| row.get::<_, i64>(0))?
        .next()
        .transpose()?;
    let Some(no) = no else { return Ok((found, None, Vec::new())) };
    let work = read_work(&reader.connection, no)?;
    let mut select = reader.connection.prepare_cached(
        "SELECT correlation, actor, trigger, attempts, error, cause, status_seal, seal
         FROM message INDEXED BY message_queued WHERE instance = ?1 AND status = 0 ORDER BY no",
    )?;
    let queued = select.query_map([no], |row| {
        let correlation: String = row.get(0)?;
        let seal: [u8; 32] = row.get(6).unwrap_or_default();
        let sent: [u8; 32] = row.get(7).unwrap_or_default();
        let status = MessageStatus::Queued;
        Ok(Queued {
            intact: *seal_of_status(&reader.key, &sent, status).bytes() == seal,
            correlation,
            actor: row.get(1)?,
            trigger: row.get(2)?,
            attempts: count(row, 3)?,
            fault: fault(row, 4)?,
        })
    })?;
    Ok((found, work, queued.collect::<Result<_, _>>()?))
}

const RECEIVED: &str = "
    SELECT i.id, m.correlation, m.actor, m.name, m.body, m.sent_at, m.status, m.attempts, m.error,
           m.seal, m.status_seal, m.trigger, m.seen, m.replaced, m.cause
    FROM message m";

pub(super) fn messages(
    connection: &Connection,
    key: &DigestKey,
    which: &Messages,
) -> rusqlite::Result<Vec<Result<Received, Broken>>> {
    let join = "JOIN instance i ON i.no = m.instance";
    let (mut of, mut queued) = (None, None);
    let (sql, id) = match which {
        Messages::One(id, correlation) => {
            of = Some(correlation);
            let newest = "WHERE i.id = ?1 AND m.correlation = ?2 AND m.replaced = 0";
            (format!("{RECEIVED} {join} {newest}"), Some(id.bytes()))
        }
        Messages::To(id) => {
            (format!("{RECEIVED} {join} WHERE i.id = ?1 ORDER BY m.no"), Some(id.bytes()))
        }
        Messages::All => (format!("{RECEIVED} LEFT {join} ORDER BY m.no"), None),
        Messages::SetAside => {
            let index = "INDEXED BY message_set_aside";
            (format!("{RECEIVED} {index} {join} WHERE m.status = 2 ORDER BY m.no"), None)
        }
        Messages::Queued(before, limit) => {
            queued = Some((*before, i64::try_from(*limit).unwrap_or(i64::MAX)));
            let index = "INDEXED BY message_queued";
            let old = "WHERE m.status = 0 AND m.sent_at <= ?1 ORDER BY m.no LIMIT ?2";
            (format!("{RECEIVED} {index} {join} {old}"), None)
        }
    };
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = match (id, of) {
        (Some(id), Some(of)) => select.query(params![id, of])?,
        (Some(id), None) => select.query([id])?,
        (None, _) => match queued {
            Some((before, limit)) => select.query(params![before, limit])?,
            None => select.query([])?,
        },
    };
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(received(Columns(row), key));
    }
    Ok(all)
}

/// A message, if it is as it was sent.
fn received(row: Columns<'_, '_>, key: &DigestKey) -> Result<Received, Broken> {
    let id = row.id(0, "instance").ok();
    read(row, key).map_err(|reason| Broken { id, reason, due_at: None })
}

fn read(row: Columns<'_, '_>, key: &DigestKey) -> Read<Received> {
    let sent = Outgoing {
        correlation: row.text(1, "correlation")?.to_owned(),
        actor: row.text(2, "actor")?.to_owned(),
        name: row.optional(3, "name", Cell::text)?.map(str::to_owned),
        body: row.text(4, "body")?.to_owned(),
        seen: row.optional(12, "seen", Cell::count)?,
    };
    let (to, sent_at) = (row.id(0, "instance")?, row.integer(5, "sent_at")?);
    if row.digest(9, "seal") != Ok(sent.seal(key, to, sent_at)) {
        let which = crate::id::shortened(&sent.correlation);
        return Err(format!("the message `{which}` was changed: its seal does not match"));
    }
    let which = || crate::id::shortened(&sent.correlation);
    let status = MessageStatus::from_number(row.integer(6, "status")?);
    let status = status.filter(|status| {
        let sent = row.digest(9, "seal");
        let seal = sent.map(|sent| seal_of_status(key, sent.bytes(), *status));
        seal.is_ok() && row.digest(10, "status_seal") == seal
    });
    // Its correlation id is free only if it was replaced.
    let frees_id = row.integer(13, "replaced")? != 0;
    let status = status.filter(|status| (*status == MessageStatus::Replaced) == frees_id);
    let status =
        status.ok_or_else(|| format!("the status of the message `{}` was changed", which()))?;
    if row.optional(11, "trigger", Cell::text)? != sent.trigger().as_deref() {
        return Err(format!("the trigger of the message `{}` was changed", which()));
    }
    let cause = row.optional(14, "cause", Cell::integer)?;
    let Outgoing { correlation, actor, name, body, seen } = sent;
    Ok(Received {
        to,
        correlation,
        actor,
        name,
        body,
        seen,
        sent_at,
        status: status.into(),
        attempts: u32::try_from(row.count(7, "attempts")?).unwrap_or(u32::MAX),
        error: row.optional(8, "error", Cell::text)?.map(str::to_owned),
        cause: cause.map(|cause| Cause::from_number(Some(cause))),
    })
}
