//! Inboxes and leases. What happens to them is decided by [`step`]; this keeps the result.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{message, value::integer};
use crate::{
    clock::Millis,
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Batch, Rejected, Write},
        inbox::{
            message::seal_of_child,
            protocol::{
                Cause, Change, Effects, Event, Failed, Fault, Lease, Outcome, State, To, Tries,
                Work, caused, step,
            },
        },
    },
};

/// The changes of one event of a batch.
#[derive(Debug)]
pub(super) struct Decided {
    /// The machine's row, unless the batch creates it.
    no: Option<i64>,
    effects: Effects,
}

/// Decides all events of a batch, each after those before it.
pub(super) fn decide(
    connection: &Connection,
    key: &DigestKey,
    batch: &Batch,
) -> rusqlite::Result<Result<Vec<Decided>, Rejected>> {
    for (_, parent) in &batch.children {
        let ended: Option<bool> = connection
            .prepare_cached("SELECT ended FROM instance WHERE id = ?1")?
            .query_row([parent.bytes()], |row| row.get(0))
            .optional()?;
        match ended {
            None if !batch.creates(*parent) => return Ok(Err(Rejected::NotFound(*parent))),
            Some(true) => return Ok(Err(Rejected::Ended(*parent))),
            Some(false) | None => {}
        }
    }
    let mut copies: HashMap<Id, (Option<i64>, State)> = HashMap::new();
    let mut decided = Vec::with_capacity(batch.events.len());
    for (id, event) in &batch.events {
        if !copies.contains_key(id) {
            let found = connection
                .prepare_cached("SELECT no, ended FROM instance WHERE id = ?1")?
                .query_row([id.bytes()], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))
                .optional()?;
            let copy = match found {
                Some((no, ended)) => {
                    let work = read_work(connection, no)?;
                    (Some(no), State { ended, work, ..State::default() })
                }
                None if batch.creates(*id) => (None, State::default()),
                None => return Ok(Err(Rejected::NotFound(*id))),
            };
            copies.insert(*id, copy);
        }
        let Some((no, state)) = copies.get_mut(id) else { continue };
        if let Some(no) = no {
            message::read(connection, key, *no, event, state)?;
        }
        let effects = match step(state, event) {
            Ok(effects) => effects,
            Err(refusal) => return Ok(Err(Rejected::by_protocol(*id, event, refusal))),
        };
        state.apply(&effects);
        decided.push(Decided { no: *no, effects });
    }
    Ok(Ok(decided))
}

/// Writes what was decided. `place` finds the machines that the batch has created.
pub(super) fn write(
    connection: &Connection,
    key: &DigestKey,
    batch: &Batch,
    decided: Vec<Decided>,
) -> rusqlite::Result<Vec<Outcome>> {
    for kind in &batch.drives {
        drive(connection, kind, batch.now)?;
    }
    for (child, parent) in &batch.children {
        let seal = seal_of_child(key, *child, *parent);
        connection
            .prepare_cached(
                "INSERT INTO child (child, parent, seal)
                 SELECT c.no, p.no, ?3 FROM instance c, instance p WHERE c.id = ?1 AND p.id = ?2
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![child.bytes(), parent.bytes(), seal.bytes()])?;
    }
    let mut outcomes = Vec::with_capacity(decided.len());
    for (Decided { no, effects }, (id, event)) in decided.into_iter().zip(&batch.events) {
        outcomes.push(effects.outcome);
        let Some(no) = no.map_or_else(|| no_of(connection, *id), |no| Ok(Some(no)))? else {
            continue;
        };
        record(connection, key, (no, *id), event, &effects)?;
    }
    Ok(outcomes)
}

/// Checks whether there are inboxes or leases at all in this file.
pub(super) fn drives(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT 1 FROM driven UNION ALL SELECT 1 FROM child UNION ALL SELECT 1 FROM message
             LIMIT 1",
        )?
        .exists([])
}

/// Writes what the write of a machine causes.
pub(super) fn after(
    connection: &Connection,
    key: &DigestKey,
    no: i64,
    write: &Write,
    (by_holder, now): (bool, Millis),
) -> rusqlite::Result<()> {
    for (to, event) in caused(write, by_holder, now) {
        if let Event::Drive { now } = event {
            drive_new(connection, no, &write.row.machine, now)?;
            continue;
        }
        for recipient in recipients(connection, key, (no, write.row.id), to)? {
            happens(connection, key, recipient, &event)?;
        }
    }
    Ok(())
}

/// The work of a new machine, if workers drive its kind.
fn drive_new(connection: &Connection, no: i64, kind: &str, now: Millis) -> rusqlite::Result<()> {
    let driven = connection
        .prepare_cached("SELECT no FROM driven WHERE machine = ?1")?
        .query_row([kind], |row| row.get::<_, i64>(0))
        .optional()?;
    if let (Some(driven), Ok(Effects { work: Change::Set(work), .. })) =
        (driven, step(&State::default(), &Event::Drive { now }))
    {
        insert_work(connection, no, driven, &work)?;
    }
    Ok(())
}

/// The machines to which an event happens that the write of one causes.
fn recipients(
    connection: &Connection,
    key: &DigestKey,
    (no, id): (i64, Id),
    to: To,
) -> rusqlite::Result<Vec<(i64, Id)>> {
    let number = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, id));
    match to {
        To::Itself => Ok(vec![(no, id)]),
        To::Waiting => {
            // Their ids are not needed: no message is written.
            let mut parent =
                connection.prepare_cached("SELECT parent FROM child WHERE child = ?1")?;
            let mut behind =
                connection.prepare_cached("SELECT no FROM instance WHERE behind = ?1")?;
            let mut waiting: Vec<_> = parent.query_map([no], number)?.collect::<Result<_, _>>()?;
            for behind in behind.query_map([id.bytes()], number)? {
                waiting.push(behind?);
            }
            Ok(waiting)
        }
        To::Children => {
            let mut children = connection.prepare_cached(
                "SELECT i.no, i.id, c.seal FROM child c JOIN instance i ON i.no = c.child
                 WHERE c.parent = ?1 AND i.ended = 0",
            )?;
            let child = |row: &Row<'_>| {
                let id = Id::from_bytes(row.get(1)?);
                Ok(((row.get::<_, i64>(0)?, id), row.get::<_, [u8; 32]>(2)?))
            };
            let children: Vec<_> = children.query_map([no], child)?.collect::<Result<_, _>>()?;
            // An edit of the file cancels no machine.
            let sealed = children
                .into_iter()
                .filter(|((_, child), seal)| seal_of_child(key, *child, id).bytes() == seal);
            Ok(sealed.map(|(child, _)| child).collect())
        }
    }
}

/// An event that is never refused.
fn happens(
    connection: &Connection,
    key: &DigestKey,
    (no, id): (i64, Id),
    event: &Event,
) -> rusqlite::Result<()> {
    let work = read_work(connection, no)?;
    let mut state = State { work, ..State::default() };
    message::read(connection, key, no, event, &mut state)?;
    match step(&state, event) {
        Ok(effects) => record(connection, key, (no, id), event, &effects),
        Err(_) => Ok(()),
    }
}

fn record(
    connection: &Connection,
    key: &DigestKey,
    (no, id): (i64, Id),
    event: &Event,
    effects: &Effects,
) -> rusqlite::Result<()> {
    match &effects.work {
        Change::Keep => {}
        Change::Remove => {
            connection.prepare_cached("DELETE FROM work WHERE instance = ?1")?.execute([no])?;
        }
        Change::Set(work) => update_work(connection, no, work)?,
    }
    if let (true, Event::Send { message, .. }) = (effects.replaces, event) {
        message::replace(connection, key, no, &message.correlation)?;
    }
    for (correlation, message) in &effects.messages {
        let known = message::number(connection, no, correlation)?;
        match (known, event) {
            (Some(known), _) => message::update(connection, key, &known, message)?,
            (None, Event::Send { message: sent, now }) => {
                message::insert(connection, key, (no, id), (sent, *now), message)?;
            }
            (None, _) => {}
        }
    }
    if effects.ends { message::end_inbox(connection, key, no) } else { Ok(()) }
}

/// Registers a kind of machines, and all of its machines that have not ended.
fn drive(connection: &Connection, kind: &str, now: Millis) -> rusqlite::Result<()> {
    let added = connection
        .prepare_cached("INSERT INTO driven (machine) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([kind])?;
    if added == 0 {
        return Ok(());
    }
    let driven = connection.last_insert_rowid();
    let work = step(&State::default(), &Event::Drive { now });
    let Ok(Effects { work: Change::Set(work), .. }) = work else { return Ok(()) };
    connection
        .prepare_cached(
            "INSERT INTO work
             (instance, driven, token, wake_at, news, attempts, set_aside, deadline_attempts,
              deadline_set_aside)
             SELECT i.no, ?2, 0, ?3, 0, 0, 0, 0, 0
             FROM instance i JOIN definition d ON d.no = i.definition
             WHERE d.machine = ?1 AND i.ended = 0
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![kind, driven, work.wake_at])?;
    Ok(())
}

fn no_of(connection: &Connection, id: Id) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT no FROM instance WHERE id = ?1")?
        .query_row([id.bytes()], |row| row.get(0))
        .optional()
}

/// The columns of [`work_of`].
pub(super) const WORK: &str = "
    token, worker, wake_at, news, attempts, retry_at, set_aside, deadline_attempts,
    deadline_retry_at, deadline_set_aside, self_sends, error, cause, failed_at, failures";

pub(super) fn read_work(connection: &Connection, no: i64) -> rusqlite::Result<Option<Work>> {
    connection
        .prepare_cached(&format!("SELECT {WORK} FROM work WHERE instance = ?1"))?
        .query_row([no], work_of)
        .optional()
}

/// While a worker has the lease, `wake_at` is when it ends.
pub(super) fn work_of(row: &Row<'_>) -> rusqlite::Result<Work> {
    let (worker, at): (Option<String>, Option<Millis>) = (row.get(1)?, row.get(2)?);
    let lease = worker.map(|worker| Lease { worker, until: at.unwrap_or(Millis::MIN) });
    Ok(Work {
        token: row.get::<_, i64>(0)?.cast_unsigned(),
        wake_at: at.filter(|_| lease.is_none()),
        lease,
        news: row.get::<_, i64>(3)?.cast_unsigned(),
        handler: tries(row, 4)?,
        deadline: tries(row, 7)?,
        self_sends: count(row, 10)?,
        failed: failed(row, 11)?,
    })
}

/// A number of attempts. One that makes no sense is the result of an edit, and counts as too many.
pub(super) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u32> {
    Ok(u32::try_from(row.get::<_, i64>(index)?).unwrap_or(u32::MAX))
}

fn tries(row: &Row<'_>, first: usize) -> rusqlite::Result<Tries> {
    let (attempts, retry_at) = (count(row, first)?, row.get(first + 1)?);
    Ok(Tries { attempts, retry_at, set_aside: row.get(first + 2)? })
}

fn failed(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Failed>> {
    let Some(error) = row.get(first)? else { return Ok(None) };
    let fault = Fault { cause: Cause::from_number(row.get(first + 1)?), error };
    let at = row.get::<_, Option<Millis>>(first + 2)?.unwrap_or_default();
    Ok(Some(Failed { fault, at, attempts: count(row, first + 3)? }))
}

fn update_work(connection: &Connection, no: i64, work: &Work) -> rusqlite::Result<()> {
    let ((worker, at), failed) = (columns(work), work.failed.as_ref());
    connection
        .prepare_cached(
            "UPDATE work SET token = ?2, worker = ?3, wake_at = ?4, news = ?5, attempts = ?6,
             retry_at = ?7, set_aside = ?8, deadline_attempts = ?9, deadline_retry_at = ?10,
             deadline_set_aside = ?11, self_sends = ?12, error = ?13, cause = ?14,
             failed_at = ?15, failures = ?16 WHERE instance = ?1",
        )?
        .execute(params![
            no,
            integer(work.token)?,
            worker,
            at,
            integer(work.news)?,
            work.handler.attempts,
            work.handler.retry_at,
            work.handler.set_aside,
            work.deadline.attempts,
            work.deadline.retry_at,
            work.deadline.set_aside,
            work.self_sends,
            failed.map(|it| &it.fault.error),
            failed.map(|it| it.fault.cause as i64),
            failed.map(|it| it.at),
            failed.map_or(0, |it| it.attempts),
        ])?;
    Ok(())
}

fn insert_work(connection: &Connection, no: i64, driven: i64, work: &Work) -> rusqlite::Result<()> {
    let (_, at) = columns(work);
    connection
        .prepare_cached(
            "INSERT INTO work
             (instance, driven, token, wake_at, news, attempts, set_aside, deadline_attempts,
              deadline_set_aside)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
        )?
        .execute(params![no, driven, integer(work.token)?, at, integer(work.news)?])?;
    Ok(())
}

fn columns(work: &Work) -> (Option<&str>, Option<Millis>) {
    match &work.lease {
        Some(lease) => (Some(&lease.worker), Some(lease.until)),
        None => (None, work.wake_at),
    }
}
