use std::ops::RangeInclusive;

use rusqlite::{Connection, Error, params};

use super::{
    attempts,
    cached::{Cached, Keyed},
    call, child,
    failure::RollbackCause,
    journal::bounded,
    message, records,
    select::ENTERED,
    work::read_work,
};
use crate::{
    actor::{Actor, Call},
    id::Id,
    journal::Digest,
    store::{
        backend::{Attempts, Broken, Child, Kinship, OtherAttempts, Rejected, WriteBatch},
        error::CommitError,
        inbox::protocol::{Event, InboxState},
        write::{
            admission::{Admitted, Lookup},
            attempt::AttemptRow,
            tool::ToolRecord,
            under_way::CALLS,
        },
    },
    stored::Hold,
};

#[derive(Debug)]
pub(super) enum Admission {
    /// With the rows of the machines that are there.
    Write(Vec<Option<Current>>, Admitted<i64>),
    /// An earlier try of the same batch succeeded; these are the rows of its machines.
    Done(Vec<Current>),
    Rejected(Rejected),
}

/// Checks everything that a batch demands, before it writes anything.
pub(super) fn check(db: Keyed<'_>, batch: &WriteBatch) -> Result<Admission, RollbackCause> {
    let rows = batch
        .writes
        .iter()
        .map(|write| current(&db, write.row.id))
        .collect::<Result<Vec<_>, _>>()?;
    let all: Option<Vec<Current>> = rows.iter().copied().collect();
    let was_written = |rows: &Vec<Current>| {
        batch.was_written(rows.iter().map(|row| (row.version, row.commit_id)))
    };
    if let Some(machines) = all.filter(was_written) {
        return Ok(Admission::Done(machines));
    }
    let versions = rows.iter().map(|row| row.map(|row| row.version));
    match batch.admit(&db, versions) {
        Ok(admitted) => Ok(Admission::Write(rows, admitted)),
        Err(CheckFailure::Rejected(rejected)) => Ok(Admission::Rejected(rejected)),
        Err(CheckFailure::Sqlite(error)) => Err(error.into()),
    }
}

/// The columns of a row that a compare-and-set needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Current {
    pub(super) no: i64,
    pub(super) newest: i64,
    version: u64,
    commit_id: i64,
}

fn current(connection: &Connection, id: Id) -> rusqlite::Result<Option<Current>> {
    let sql = "SELECT no, newest, version, commit_id FROM instance WHERE id = ?1";
    connection.find(sql, [id.bytes()], |row| {
        // A negative version is the result of an edit. No batch expects 0.
        let version = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        Ok(Current { no: row.get(0)?, newest: row.get(1)?, version, commit_id: row.get(3)? })
    })
}

pub(super) fn version(connection: &Connection, id: Id) -> rusqlite::Result<Option<u64>> {
    Ok(current(connection, id)?.map(|row| row.version))
}

pub(super) enum CheckFailure {
    Rejected(Rejected),
    Sqlite(Error),
}

impl From<Rejected> for CheckFailure {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected)
    }
}

impl From<CommitError> for CheckFailure {
    fn from(error: CommitError) -> Self {
        Self::Rejected(error.into())
    }
}

impl From<Error> for CheckFailure {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Lookup for Keyed<'_> {
    type Error = CheckFailure;
    type Place = i64;

    fn version(&self, id: Id) -> Result<Option<u64>, CheckFailure> {
        Ok(version(self, id)?)
    }

    fn state(&self, id: Id) -> Result<Option<(String, Option<Digest>)>, CheckFailure> {
        let sql =
            "SELECT i.status, j.digest FROM instance i LEFT JOIN journal j ON j.seq = i.newest
             WHERE i.id = ?1";
        Ok(self.find(sql, [id.bytes()], |row| {
            Ok((row.get(0)?, row.get::<_, Option<[u8; 32]>>(1)?.map(Digest::from_bytes)))
        })?)
    }

    fn has_ended(&self, id: Id) -> Result<Option<bool>, CheckFailure> {
        let sql = "SELECT ended FROM instance WHERE id = ?1";
        Ok(self.find(sql, [id.bytes()], |row| row.get(0))?)
    }

    fn entered(&self, id: Id) -> Result<Option<u64>, CheckFailure> {
        let sql = format!(
            "SELECT CAST({ENTERED} AS INTEGER) FROM instance i WHERE id = ?1 AND ended = 0"
        );
        let entered = self.find(&sql, [id.bytes()], |row| row.get::<_, i64>(0))?;
        // A negative one is the result of an edit.
        Ok(entered.map(|entered| u64::try_from(entered).unwrap_or(u64::MAX)))
    }

    fn kinship(&self, id: Id) -> Result<Option<Kinship>, CheckFailure> {
        // What an edit made a child is none.
        Ok(child::find(*self, id)?.unwrap_or_default())
    }

    fn open_calls(&self, parent: Id) -> Result<Vec<Id>, CheckFailure> {
        let values = params![parent.bytes(), CALLS];
        let mut open = self.all(call::LIVE, values, |row| row.get(0).map(Id::from_bytes))?;
        for untaken in call::UNTAKEN {
            let senders = self.all(untaken, params![parent.bytes(), Call::KIND], |row| {
                Ok(row.get::<_, Option<String>>(0)?.and_then(|name| name.parse::<Id>().ok()))
            })?;
            open.extend(senders.into_iter().flatten());
        }
        Ok(open)
    }

    fn hold(&self, id: Id) -> Result<Hold, CheckFailure> {
        let newest = attempts::read(*self, &Attempts::OfMachine(id))?.pop();
        // One that cannot be trusted holds it.
        let hold = newest.map(|newest| newest.map_or(Hold::Held, |newest| newest.attempt.hold));
        Ok(hold.unwrap_or_default())
    }

    fn has_taken(&self, parent: Id, call: Id) -> Result<Option<bool>, CheckFailure> {
        Ok(call::has_taken(*self, parent, call)?)
    }

    fn is_answered_after(&self, key: &str, after: u64) -> Result<bool, CheckFailure> {
        let sql = "SELECT EXISTS (SELECT 1 FROM instance AS action JOIN instance AS gate
             ON gate.id = action.behind WHERE action.key = ?1 AND gate.newest > ?2)";
        Ok(self.get(sql, params![key, bounded(after)], |row| row.get(0))?)
    }

    fn children_of(
        &self,
        parent: Id,
        visit: &RangeInclusive<u64>,
    ) -> Result<Vec<Child>, CheckFailure> {
        let children = child::of_visit(*self, parent, visit)?;
        Ok(children.into_iter().map(|(_, child)| child).collect())
    }

    fn other_attempt(
        &self,
        attempts: &OtherAttempts,
        known: &[Id],
    ) -> Result<Option<(Id, String)>, CheckFailure> {
        let OtherAttempts { of, key, machine, done, failed } = attempts;
        let mut others = self.prepare_cached(
            "SELECT i.id, i.status FROM instance i JOIN definition d ON d.no = i.definition
             WHERE i.key = ?1 AND d.machine = ?2 AND i.id <> ?3
                AND (i.ended = 0 OR i.status = ?4 OR i.status = ?5 AND i.id > ?3)",
        )?;
        let values = params![key, machine, of.bytes(), done, failed];
        let mut others = others
            .query_map(values, |row| Ok((row.get(0).map(Id::from_bytes)?, row.get(1)?)))?
            .filter(|other| other.as_ref().map_or(true, |(id, _)| !known.contains(id)));
        Ok(others.next().transpose()?)
    }

    fn tool(&self, name: &str) -> Result<Option<ToolRecord>, CheckFailure> {
        let sql = "SELECT identity FROM tool WHERE name = ?1";
        Ok(self.find(sql, [name], |row| Ok(ToolRecord { identity: row.get(0)? }))?)
    }

    fn record(&self, kind: &str, id: Id) -> Result<u64, CheckFailure> {
        Ok(records::version(self, kind, id)?)
    }

    fn attempts(&self, key: &str) -> Result<Vec<Result<AttemptRow, Broken>>, CheckFailure> {
        Ok(attempts::read(*self, &Attempts::OfKey(key.to_owned()))?)
    }

    fn inbox(&self, id: Id) -> Result<Option<(i64, InboxState)>, CheckFailure> {
        let sql = "SELECT no, ended FROM instance WHERE id = ?1";
        let found = self.find(sql, [id.bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Some((no, ended)) = found else { return Ok(None) };
        let work = read_work(self, no)?;
        Ok(Some((no, InboxState { ended, work, ..InboxState::default() })))
    }

    fn add_messages(
        &self,
        no: i64,
        event: &Event,
        inbox: &mut InboxState,
    ) -> Result<(), CheckFailure> {
        Ok(message::read(*self, no, event, inbox)?)
    }
}
