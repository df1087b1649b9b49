//! Inboxes and leases. What happens to them is decided by [`step`]; this keeps the result.

use std::sync::Arc;

use rusqlite::{Connection, Row, ToSql, params};

use super::{
    cached::{Cached, Keyed},
    child::{self, Parent},
    message, row,
    value::integer,
};
use crate::{
    clock::{Clock, Millis},
    id::Id,
    store::{
        backend::{Write, WriteBatch},
        inbox::protocol::{
            Cause, Effects, Event, EventOutcome, Fault, InboxState, LastFailure, Lease, Schedule,
            To, Tries, Wake, WorkChange, caused, step,
        },
    },
};

pub(super) fn write(
    db: Keyed<'_>,
    batch: &WriteBatch,
    decided: Vec<(Option<i64>, Effects)>,
) -> rusqlite::Result<Vec<EventOutcome>> {
    for kind in &batch.drives {
        drive(&db, kind, batch.now)?;
    }
    child::write(db, batch)?;
    let mut outcomes = Vec::with_capacity(decided.len());
    for ((no, effects), (id, event)) in decided.into_iter().zip(&batch.events) {
        outcomes.push(effects.outcome);
        let Some(no) = no.map_or_else(|| row::no_of(&db, *id), |no| Ok(Some(no)))? else {
            continue;
        };
        record(db, (no, *id), (event, batch.clock.as_ref()), &effects)?;
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

/// Writes the consequences of the write of a machine; returns the messages that are new. `left`:
/// the machines that the batch moves out of their states. `is_let_go`: it is a call that the batch
/// lets go.
pub(super) fn after(
    db: Keyed<'_>,
    (no, write): (i64, &Write),
    left: &[i64],
    (by_holder, leaves_children, is_let_go): (bool, bool, bool),
    now: Millis,
) -> rusqlite::Result<Vec<(Id, EventOutcome)>> {
    let id = write.row.id;
    let parent = if write.row.ended { child::parent_of(db, (no, id))? } else { None };
    let call = parent.as_ref().and_then(|parent| parent.call);
    let parent_leaves =
        is_let_go || parent.as_ref().is_some_and(|it| left.contains(&it.recipient.no));
    let by = (by_holder, leaves_children);
    let of_parent = (parent_leaves, parent.as_ref().is_some_and(|it| it.is_of_visit));
    let mut sent = Vec::new();
    for (to, event) in caused(write, call.as_ref(), by, of_parent, now) {
        if let Event::Drive { now } = event {
            drive_new(&db, no, &write.row.machine, now)?;
            continue;
        }
        for recipient in recipients(db, (no, id), to, parent.as_ref())? {
            let outcome = apply_event(db, recipient, &event)?;
            sent.extend(event.new_message(outcome).map(|outcome| (recipient.id, outcome)));
        }
    }
    Ok(sent)
}

/// A machine to which an event happens that the write of another one causes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipient {
    pub(super) no: i64,
    /// Only messages need it, and `ended`.
    pub(super) id: Id,
    pub(super) ended: bool,
}

/// The work of a new machine, if workers drive its kind.
fn drive_new(connection: &Connection, no: i64, kind: &str, now: Millis) -> rusqlite::Result<()> {
    let driven =
        connection.find("SELECT no FROM driven WHERE machine = ?1", [kind], |row| row.get(0))?;
    driven.map_or(Ok(()), |driven| insert_work(connection, "WHERE i.no = ?1", &no, driven, now))
}

fn recipients(
    db: Keyed<'_>,
    (no, id): (i64, Id),
    to: To,
    parent: Option<&Parent>,
) -> rusqlite::Result<Vec<Recipient>> {
    let recipient = |no| Recipient { no, id, ended: false };
    match to {
        To::Itself => Ok(vec![recipient(no)]),
        To::Parent => Ok(parent.map(|parent| parent.recipient).into_iter().collect()),
        To::Behind => db.all("SELECT no FROM instance WHERE behind = ?1", [id.bytes()], |row| {
            row.get(0).map(recipient)
        }),
        To::Machines { since, until } => {
            let children = child::of_visit(db, id, &(since..=until))?.into_iter();
            let live = children.filter(|(_, child)| child.is_live_machine());
            Ok(live.map(|(no, child)| Recipient { no, id: child.id, ended: false }).collect())
        }
    }
}

/// An event that changes nothing if it is refused. Returns its outcome.
fn apply_event(
    db: Keyed<'_>,
    Recipient { no, id, ended }: Recipient,
    event: &Event,
) -> rusqlite::Result<Option<EventOutcome>> {
    let work = read_work(&db, no)?;
    let mut state = InboxState { ended, work, ..InboxState::default() };
    message::read(db, no, event, &mut state)?;
    let Ok(effects) = step(&state, event) else { return Ok(None) };
    record(db, (no, id), (event, None), &effects)?;
    Ok(Some(effects.outcome))
}

/// Writes the effects of an event. A message is sent at the time of the clock, if there is one.
fn record(
    db: Keyed<'_>,
    (no, id): (i64, Id),
    (event, clock): (&Event, Option<&Arc<dyn Clock>>),
    effects: &Effects,
) -> rusqlite::Result<()> {
    match &effects.work {
        WorkChange::Keep => {}
        WorkChange::Remove => db.run("DELETE FROM work WHERE instance = ?1", [no])?,
        WorkChange::Set(work) => update_work(&db, no, work)?,
    }
    if let (true, Event::Send { message, .. }) = (effects.replaces, event) {
        message::replace(db, no, &message.correlation)?;
    }
    for (correlation, message) in &effects.messages {
        let known = message::number(&db, no, correlation)?;
        match (known, event) {
            (Some(known), _) => message::update(db, &known, message)?,
            (None, Event::Send { message: sent, now }) => {
                let sent_at = clock.map_or(*now, |clock| clock.now());
                message::insert(db, (no, id), (sent, sent_at), message)?;
            }
            (None, _) => {}
        }
    }
    if effects.ends { message::end_inbox(db, no) } else { Ok(()) }
}

/// Registers a kind of machines, and all of its machines that have not ended.
fn drive(connection: &Connection, kind: &str, now: Millis) -> rusqlite::Result<()> {
    let added = connection
        .change("INSERT INTO driven (machine) VALUES (?1) ON CONFLICT DO NOTHING", [kind])?;
    if added == 0 {
        return Ok(());
    }
    let live = "JOIN definition d ON d.no = i.definition WHERE d.machine = ?1 AND i.ended = 0";
    insert_work(connection, live, &kind, connection.last_insert_rowid(), now)
}

/// Inserts the work of the machines that a condition on `?1` selects.
fn insert_work(
    connection: &Connection,
    which: &str,
    value: &dyn ToSql,
    driven: i64,
    now: Millis,
) -> rusqlite::Result<()> {
    let work = step(&InboxState::default(), &Event::Drive { now });
    let Ok(Effects { work: WorkChange::Set(work), .. }) = work else { return Ok(()) };
    let (_, at, set_at) = columns(&work);
    let sql = format!(
        "INSERT INTO work
             (instance, driven, token, wake_at, set_at, news, attempts, set_aside, deadline_attempts,
              deadline_set_aside, queued)
             SELECT i.no, ?2, 0, ?3, ?4, 0, 0, 0, 0, 0,
                 (SELECT count(*) FROM message m WHERE m.instance = i.no AND m.status = 0)
             FROM instance i {which} ON CONFLICT DO NOTHING"
    );
    connection.run(&sql, params![value, driven, at, set_at])
}

/// The columns of [`work_of`].
pub(super) const WORK: &str = "
    token, worker, wake_at, news, attempts, retry_at, set_aside, deadline_attempts,
    deadline_retry_at, deadline_set_aside, self_sends, error, cause, failed_at, failures, set_at,
    unseen_end, seen_end, others_at, queued, stuck_at, taken_over";

pub(super) fn read_work(connection: &Connection, no: i64) -> rusqlite::Result<Option<Schedule>> {
    connection.find(&format!("SELECT {WORK} FROM work WHERE instance = ?1"), [no], work_of)
}

/// While a worker has the lease, `wake_at` is when it ends.
pub(super) fn work_of(row: &Row<'_>) -> rusqlite::Result<Schedule> {
    let (worker, at): (Option<String>, Option<Millis>) = (row.get(1)?, row.get(2)?);
    let set_at = row.get(15)?;
    let lease = worker.map(|worker| Lease { worker, until: at.unwrap_or(Millis::MIN) });
    Ok(Schedule {
        token: row.get::<_, i64>(0)?.cast_unsigned(),
        wake: at.filter(|_| lease.is_none()).map(|at| Wake { at, set_at }),
        lease,
        revision: row.get::<_, i64>(3)?.cast_unsigned(),
        handler: tries(row, 4)?,
        deadline: tries(row, 7)?,
        self_sends: count(row, 10)?,
        failed: failed(row, 11)?,
        unseen_end: row.get(16)?,
        seen_end: row.get(17)?,
        others_at: row.get(18)?,
        queued: count(row, 19)?,
        stuck_at: row.get(20)?,
        taken_over: row.get(21)?,
    })
}

/// A number of attempts or of messages. One that makes no sense is the result of an edit, and
/// counts as too many.
pub(super) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u32> {
    Ok(u32::try_from(row.get::<_, i64>(index)?).unwrap_or(u32::MAX))
}

fn tries(row: &Row<'_>, first: usize) -> rusqlite::Result<Tries> {
    let (attempts, retry_at) = (count(row, first)?, row.get(first + 1)?);
    Ok(Tries { attempts, retry_at, set_aside: row.get(first + 2)? })
}

fn failed(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<LastFailure>> {
    let Some(error) = row.get(first)? else { return Ok(None) };
    let fault = Fault { cause: Cause::from_number(row.get(first + 1)?), error };
    let at = row.get::<_, Option<Millis>>(first + 2)?.unwrap_or_default();
    Ok(Some(LastFailure { fault, at, attempts: count(row, first + 3)? }))
}

fn update_work(connection: &Connection, no: i64, work: &Schedule) -> rusqlite::Result<()> {
    let ((worker, at, set_at), failed) = (columns(work), work.failed.as_ref());
    connection.run(
        "UPDATE work SET token = ?2, worker = ?3, wake_at = ?4, news = ?5, attempts = ?6,
             retry_at = ?7, set_aside = ?8, deadline_attempts = ?9, deadline_retry_at = ?10,
             deadline_set_aside = ?11, self_sends = ?12, error = ?13, cause = ?14,
             failed_at = ?15, failures = ?16, set_at = ?17, unseen_end = ?18, seen_end = ?19,
             others_at = ?20, queued = ?21, stuck_at = ?22, taken_over = ?23
             WHERE instance = ?1",
        params![
            no,
            integer(work.token)?,
            worker,
            at,
            integer(work.revision)?,
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
            set_at,
            work.unseen_end,
            work.seen_end,
            work.others_at,
            work.queued,
            work.stuck_at,
            work.taken_over,
        ],
    )
}

/// The worker, `wake_at` and `set_at`.
fn columns(work: &Schedule) -> (Option<&str>, Option<Millis>, Option<Millis>) {
    match (&work.lease, work.wake) {
        (Some(lease), _) => (Some(&lease.worker), Some(lease.until), None),
        (None, Some(Wake { at, set_at })) => (None, Some(at), set_at),
        (None, None) => (None, None, None),
    }
}
