//! What workers read: whose turn it is, and the messages that wait.

use rusqlite::{Connection, params};

use super::{
    readers::Reader,
    row,
    value::{Columns, Read},
    work::read_work,
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Agenda, Broken, Child, Found, Messages, Task},
        message::{Outgoing, Received},
        work::MessageStatus,
    },
};

pub(super) fn agenda(
    connection: &Connection,
    kinds: &[String],
    limit: usize,
    ended: &[String],
) -> rusqlite::Result<Vec<Agenda>> {
    let mut select = connection.prepare_cached(
        "SELECT i.id, w.token, w.wake_at, w.worker
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
        "SELECT i.id, w.token, w.wake_at, w.worker
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
        at: row.get(2)?,
        worker: row.get(3)?,
    })
}

pub(super) fn holders(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT DISTINCT worker FROM work WHERE worker IS NOT NULL")?
        .query_map([], |row| row.get(0))?
        .collect()
}

pub(super) fn set_aside(connection: &Connection) -> rusqlite::Result<Vec<(Id, Option<String>)>> {
    connection
        .prepare_cached(
            "SELECT i.id, w.error FROM work w JOIN instance i ON i.no = w.instance
             WHERE w.set_aside = 1 ORDER BY i.no",
        )?
        .query_map([], |row| Ok((Id::from_bytes(row.get(0)?), row.get(1)?)))?
        .collect()
}

pub(super) fn children(connection: &Connection, parent: Id) -> rusqlite::Result<Vec<Child>> {
    connection
        .prepare_cached(
            "SELECT i.id, d.machine, i.status, i.ended
             FROM child c JOIN instance p ON p.no = c.parent JOIN instance i ON i.no = c.child
             JOIN definition d ON d.no = i.definition
             WHERE p.id = ?1 ORDER BY c.child",
        )?
        .query_map([parent.bytes()], |row| {
            Ok(Child {
                id: Id::from_bytes(row.get(0)?),
                machine: row.get(1)?,
                status: row.get(2)?,
                has_ended: row.get(3)?,
            })
        })?
        .collect()
}

pub(super) fn task(reader: &mut Reader, id: Id, messages: usize) -> rusqlite::Result<Task> {
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
    let limit = i64::try_from(messages).unwrap_or(i64::MAX);
    let sql = format!(
        "{RECEIVED} INDEXED BY message_queued JOIN instance i ON i.no = m.instance
         WHERE m.instance = ?1 AND m.status = 0 ORDER BY m.no LIMIT ?2"
    );
    let mut select = reader.connection.prepare_cached(&sql)?;
    let mut rows = select.query(params![no, limit])?;
    let mut queued = Vec::new();
    while let Some(row) = rows.next()? {
        queued.push(received(Columns(row), &reader.key));
    }
    Ok((found, work, queued))
}

const RECEIVED: &str = "
    SELECT i.id, m.correlation, m.actor, m.name, m.body, m.sent_at, m.status, m.attempts, m.error,
           m.seal
    FROM message m";

pub(super) fn messages(
    connection: &Connection,
    key: &DigestKey,
    which: &Messages,
) -> rusqlite::Result<Vec<Result<Received, Broken>>> {
    let join = "JOIN instance i ON i.no = m.instance";
    let (sql, id) = match which {
        Messages::To(id) => {
            (format!("{RECEIVED} {join} WHERE i.id = ?1 ORDER BY m.no"), Some(id.bytes()))
        }
        Messages::SetAside => {
            let index = "INDEXED BY message_set_aside";
            (format!("{RECEIVED} {index} {join} WHERE m.status = 2 ORDER BY m.no"), None)
        }
    };
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = match id {
        Some(id) => select.query([id])?,
        None => select.query([])?,
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
        name: row.optional(3, "name", Columns::text)?.map(str::to_owned),
        body: row.text(4, "body")?.to_owned(),
    };
    let (to, sent_at) = (row.id(0, "instance")?, row.integer(5, "sent_at")?);
    if sent.seal(key, to, sent_at) != row.digest(9, "seal")? {
        let which = crate::id::shortened(&sent.correlation);
        return Err(format!("the message `{which}` was changed: its seal does not match"));
    }
    let status = MessageStatus::from_number(row.integer(6, "status")?);
    let status = status.ok_or_else(|| "the status of a message is unknown".to_owned())?;
    let Outgoing { correlation, actor, name, body } = sent;
    Ok(Received {
        to,
        correlation,
        actor,
        name,
        body,
        sent_at,
        status: status.into(),
        attempts: u32::try_from(row.count(7, "attempts")?).unwrap_or(u32::MAX),
        error: row.optional(8, "error", Columns::text)?.map(str::to_owned),
    })
}
