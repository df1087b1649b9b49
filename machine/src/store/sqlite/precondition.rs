use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    attempts::{self, Stored},
    tools,
    work::{self, Decided},
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Attempts, Batch, Broken, Condition, Rejected, Write},
        write::{
            attempt::{Attempt, refused},
            tool::Tool,
        },
    },
};

/// The findings of the checks of one write.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The machine's row, unless it is created.
    pub(super) machine: Option<Current>,
    /// The attempt to change.
    pub(super) attempt: Option<Stored>,
    /// The record of its tool from now on.
    pub(super) tool: Option<Tool>,
}

/// A batch whose preconditions hold.
#[derive(Debug)]
pub(super) enum Verdict {
    Write(Vec<Checked>, Vec<Decided>),
    /// An earlier try of the same batch succeeded; these are the rows of its machines.
    Done(Vec<Current>),
}

type Check<T> = rusqlite::Result<Result<T, Rejected>>;

/// Checks everything that a batch demands, before it writes anything.
pub(super) fn check(connection: &Connection, key: &DigestKey, batch: &Batch) -> Check<Verdict> {
    let rows = batch
        .writes
        .iter()
        .map(|write| stored(connection, write.row.id))
        .collect::<rusqlite::Result<Vec<_>>>()?;
    if let Some(machines) = done(batch, &rows) {
        return Ok(Ok(Verdict::Done(machines)));
    }
    if let Some(rejected) = batch.expired() {
        return Ok(Err(rejected));
    }
    for condition in &batch.conditions {
        if let Some(id) = broken_by(connection, condition)? {
            return Ok(Err(Rejected::Conflict(id)));
        }
    }
    let mut checked = Vec::with_capacity(batch.writes.len());
    let mut seen = HashSet::new();
    for (write, row) in batch.writes.iter().zip(&rows) {
        let id = write.row.id;
        let machine = match (write.expected, row) {
            (None, None) => None,
            (None, Some(_)) => return Ok(Err(Rejected::AlreadyStored(id))),
            (Some(_), None) => return Ok(Err(Rejected::NotFound(id))),
            (Some(expected), Some(row)) if row.has(expected) => Some(*row),
            _ => return Ok(Err(Rejected::Conflict(id))),
        };
        // The second write of one machine would follow another version than the one that it expects.
        if !seen.insert(id) {
            return Ok(Err(Rejected::Conflict(id)));
        }
        checked.push(Checked { machine, attempt: None, tool: None });
    }
    let mut tools: HashMap<&str, Option<Tool>> = HashMap::new();
    for (write, checked) in batch.writes.iter().zip(&mut checked) {
        let Some(used) = &write.tool else { continue };
        let known = match tools.get(&*used.name) {
            Some(known) => *known,
            None => tools::find(connection, &used.name)?,
        };
        let after = match Tool::after(known, used, write.row.id) {
            Ok(after) => after,
            Err(rejected) => return Ok(Err(rejected)),
        };
        checked.tool = after.filter(|_| after != known);
        tools.insert(&used.name, after);
    }
    let mut keys = Keys { connection, digest: key, read: HashMap::new() };
    for (write, checked) in batch.writes.iter().zip(&mut checked) {
        match keys.check(write)? {
            Ok(attempt) => checked.attempt = attempt,
            Err(rejected) => return Ok(Err(rejected)),
        }
    }
    Ok(work::decide(connection, key, batch)?.map(|decided| Verdict::Write(checked, decided)))
}

/// The columns of a row that a compare-and-set needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) no: i64,
    pub(super) newest: i64,
    version: i64,
    commit_id: i64,
}

impl Current {
    fn has(&self, version: u64) -> bool {
        u64::try_from(self.version) == Ok(version)
    }
}

fn stored(connection: &Connection, id: Id) -> rusqlite::Result<Option<Current>> {
    connection
        .prepare_cached("SELECT no, newest, version, commit_id FROM instance WHERE id = ?1")?
        .query_row(params![id.bytes()], |row| {
            Ok(Current {
                no: row.get(0)?,
                newest: row.get(1)?,
                version: row.get(2)?,
                commit_id: row.get(3)?,
            })
        })
        .optional()
}

/// The machine because of which a condition does not hold.
fn broken_by(connection: &Connection, condition: &Condition) -> rusqlite::Result<Option<Id>> {
    Ok(match condition {
        // See `Batch::expired`.
        Condition::Approved { .. } => None,
        Condition::NoNewAnswer { id, key, after } => {
            is_answered_after(connection, key, *after)?.then_some(*id)
        }
        Condition::Version { id, version } => {
            let is_same = stored(connection, *id)?.is_some_and(|row| row.has(*version));
            (!is_same).then_some(*id)
        }
        Condition::NoOtherChild { parent, machine, status, known } => connection
            .prepare_cached(
                "SELECT i.id FROM child c JOIN instance p ON p.no = c.parent
                 JOIN instance i ON i.no = c.child JOIN definition d ON d.no = i.definition
                 WHERE p.id = ?1 AND d.machine = ?2 AND i.status = ?3",
            )?
            .query_map(params![parent.bytes(), machine, status], |row| row.get(0))?
            .map(|id| id.map(Id::from_bytes))
            .find(|id| id.as_ref().map_or(true, |id| !known.contains(id)))
            .transpose()?,
    })
}

/// The version of a machine.
pub(super) fn version(connection: &Connection, id: Id) -> rusqlite::Result<Option<u64>> {
    Ok(stored(connection, id)?.and_then(|row| u64::try_from(row.version).ok()))
}

/// Checks whether a gate of an execution with this key has an entry after this one.
fn is_answered_after(connection: &Connection, key: &str, after: u64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM instance AS action JOIN instance AS gate
             ON gate.id = action.behind WHERE action.key = ?1 AND gate.newest > ?2)",
        )?
        .query_row(params![key, i64::try_from(after).unwrap_or(i64::MAX)], |row| row.get(0))
}

/// Returns the rows if an earlier try of this batch succeeded: one row with its commit id proves that.
/// The other machines may have moved on since, but not back.
fn done(batch: &Batch, rows: &[Option<Current>]) -> Option<Vec<Current>> {
    let mut any = false;
    let mut machines = Vec::with_capacity(rows.len());
    for (write, row) in batch.writes.iter().zip(rows) {
        let row = row.as_ref()?;
        let after = write.expected.unwrap_or(0).saturating_add(write.lines.len() as u64);
        any |= row.commit_id == batch.commit_id && row.has(after);
        if u64::try_from(row.version).ok()? < after {
            return None;
        }
        machines.push(*row);
    }
    any.then_some(machines)
}

/// The attempts at the keys of a batch, as they are after its writes so far: two machines of one
/// batch must not both get a key.
struct Keys<'a> {
    connection: &'a Connection,
    digest: &'a DigestKey,
    read: HashMap<String, Vec<Result<Stored, Broken>>>,
}

impl Keys<'_> {
    /// Checks the claim of a write, and notes what it does to its attempt. Returns the attempt that
    /// it changes.
    fn check(&mut self, write: &Write) -> Check<Option<Stored>> {
        let id = write.row.id;
        if let Some(claim) = &write.claim {
            let attempts = match self.of(&claim.key)?.iter().cloned().collect::<Result<Vec<_>, _>>()
            {
                Ok(attempts) => attempts,
                Err(broken) => return Ok(Err(not_trusted(id, broken))),
            };
            let attempts: Vec<Attempt> =
                attempts.into_iter().map(|stored| stored.attempt).collect();
            if let Some(rejected) = refused(claim, &attempts, id) {
                return Ok(Err(rejected));
            }
        }
        let Some(change) = &write.attempt else { return Ok(Ok(None)) };
        let attempts = self.of(&change.key)?;
        if change.opens {
            let attempt = attempts::opened(change, id, 0);
            attempts.push(Ok(Stored { no: 0, attempt }));
            return Ok(Ok(None));
        }
        let mut newest = attempts.iter_mut().rev().filter(|stored| match stored {
            Ok(Stored { attempt, .. }) => attempt.by == id && attempt.space == change.space,
            Err(broken) => broken.id.is_none_or(|by| by == id),
        });
        match newest.next() {
            Some(Ok(stored)) => {
                attempts::changed(&mut stored.attempt, change);
                Ok(Ok(Some(stored.clone())))
            }
            Some(Err(broken)) => Ok(Err(not_trusted(id, broken.clone()))),
            None => {
                let reason = "there is no attempt at its key".to_owned();
                Ok(Err(Rejected::BrokenAttempt { id, reason }))
            }
        }
    }

    fn of(&mut self, key: &str) -> rusqlite::Result<&mut Vec<Result<Stored, Broken>>> {
        if !self.read.contains_key(key) {
            let which = Attempts::OfKey(key.to_owned());
            let attempts = attempts::read(self.connection, self.digest, &which)?;
            self.read.insert(key.to_owned(), attempts);
        }
        Ok(self.read.entry(key.to_owned()).or_default())
    }
}

fn not_trusted(id: Id, broken: Broken) -> Rejected {
    Rejected::BrokenAttempt { id, reason: broken.reason }
}
