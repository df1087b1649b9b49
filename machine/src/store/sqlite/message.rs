//! The rows of messages.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};

use super::{
    cached::{Cached, Keyed},
    work::count,
};
use crate::{
    clock::Millis,
    id::Id,
    store::inbox::{
        message::{Delivery, Outgoing, seal_of_status},
        protocol::{Cause, Event, Fault, InboxState, MessageState, ended},
    },
};

/// The number and the seal of a message.
pub(super) type Numbered = (i64, [u8; 32]);

/// The newest message with this correlation id.
pub(super) fn number(
    connection: &Connection,
    no: i64,
    correlation: &str,
) -> rusqlite::Result<Option<Numbered>> {
    connection.find(
        "SELECT no, seal FROM message
             WHERE instance = ?1 AND correlation = ?2 AND replaced = 0",
        params![no, correlation],
        |row| Ok((row.get(0)?, row.get(1).unwrap_or_default())),
    )
}

pub(super) fn update(
    db: Keyed<'_>,
    (no, sent): &Numbered,
    message: &MessageState,
) -> rusqlite::Result<()> {
    db.run(
        "UPDATE message SET status = ?2, status_seal = ?3, attempts = ?4, error = ?5,
             cause = ?6 WHERE no = ?1",
        params![
            no,
            message.status as i64,
            seal_of_status(db.key, sent, message.status).bytes(),
            message.attempts,
            message.fault.as_ref().map(|fault| &fault.error),
            message.fault.as_ref().map(|fault| fault.cause as i64),
        ],
    )
}

/// Another message takes the correlation id of one that was set aside.
pub(super) fn replace(db: Keyed<'_>, no: i64, correlation: &str) -> rusqlite::Result<()> {
    let Some((no, sent)) = number(&db, no, correlation)? else { return Ok(()) };
    let status = Delivery::Replaced;
    db.run(
        "UPDATE message SET status = ?2, status_seal = ?3, replaced = no WHERE no = ?1",
        params![no, status as i64, seal_of_status(db.key, &sent, status).bytes()],
    )
}

/// Sets aside what an ended machine did not handle.
pub(super) fn end_inbox(db: Keyed<'_>, no: i64) -> rusqlite::Result<()> {
    let queued: Vec<(Numbered, u32, Option<Fault>)> = db.all(
        "SELECT no, seal, attempts, error, cause FROM message
             WHERE instance = ?1 AND status = 0",
        [no],
        |row| Ok(((row.get(0)?, row.get(1).unwrap_or_default()), count(row, 2)?, fault(row, 3)?)),
    )?;
    for (known, attempts, fault) in queued {
        let (status, fault) = (Delivery::SetAside, Some(ended(fault.as_ref())));
        let message = MessageState { status, attempts, fault, sent: None };
        update(db, &known, &message)?;
    }
    Ok(())
}

pub(super) fn read(
    db: Keyed<'_>,
    no: i64,
    event: &Event,
    state: &mut InboxState,
) -> rusqlite::Result<()> {
    for correlation in event.messages() {
        let is_sent = matches!(event, Event::Send { .. });
        let known = state.messages.get(correlation);
        if known.is_some_and(|known| !is_sent || known.sent.is_some()) {
            continue;
        }
        let found = db.find(
            "SELECT status, attempts, error, cause FROM message
                 WHERE instance = ?1 AND correlation = ?2 AND replaced = 0",
            params![no, correlation],
            |row| {
                let status = Delivery::from_number(row.get(0)?);
                Ok(MessageState {
                    // One with an unknown status is not handled.
                    status: status.unwrap_or(Delivery::SetAside),
                    attempts: count(row, 1)?,
                    fault: fault(row, 2)?,
                    sent: None,
                })
            },
        )?;
        if let Some(found) = found {
            let known = state.messages.entry(correlation.to_owned()).or_insert(found);
            if is_sent {
                read_sent(db, (no, correlation), known)?;
            }
        }
    }
    Ok(())
}

pub(super) fn fault(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Fault>> {
    let Some(error) = row.get(first)? else { return Ok(None) };
    Ok(Some(Fault { cause: Cause::from_number(row.get(first + 1)?), error }))
}

/// Reads what was sent. One whose status was edited keeps its correlation id.
fn read_sent(
    db: Keyed<'_>,
    (no, correlation): (i64, &str),
    known: &mut MessageState,
) -> rusqlite::Result<()> {
    let mut select = db.prepare_cached(
        "SELECT actor, name, body, seen, seal, status_seal FROM message
         WHERE instance = ?1 AND correlation = ?2 AND replaced = 0",
    )?;
    let (sent, is_intact) = select.query_row(params![no, correlation], |row| {
        let sent = Outgoing {
            correlation: correlation.to_owned(),
            actor: row.get(0)?,
            name: row.get(1)?,
            body: row.get(2)?,
            seen: row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned),
        };
        let (seal, found): ([u8; 32], [u8; 32]) =
            (row.get(4).unwrap_or_default(), row.get(5).unwrap_or_default());
        Ok((sent, *seal_of_status(db.key, &seal, known.status).bytes() == found))
    })?;
    known.sent = Some(Arc::new(sent));
    if !is_intact {
        known.status = Delivery::Handled;
    }
    Ok(())
}

pub(super) fn insert(
    db: Keyed<'_>,
    (no, id): (i64, Id),
    (sent, now): (&Outgoing, Millis),
    state: &MessageState,
) -> rusqlite::Result<()> {
    let seal = sent.seal(db.key, id, now);
    db.run(
        "INSERT INTO message
             (instance, correlation, actor, name, trigger, body, sent_at, seal, status, status_seal,
              attempts, error, cause, seen)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            no,
            sent.correlation,
            sent.actor,
            sent.name,
            sent.trigger(),
            sent.body,
            now,
            seal.bytes(),
            state.status as i64,
            seal_of_status(db.key, seal.bytes(), state.status).bytes(),
            state.attempts,
            state.fault.as_ref().map(|fault| &fault.error),
            state.fault.as_ref().map(|fault| fault.cause as i64),
            sent.seen.and_then(|seen| i64::try_from(seen).ok())
        ],
    )
}
