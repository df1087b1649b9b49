use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    apply,
    cached::{Cached, Keyed},
    checkpoint::CheckpointState,
    connection::{self, Role},
    definitions::Numbers,
    fail::{fail_point, fail_point_with_error},
    failure::{RollbackCause, reopening, sqlite_code, unavailable},
    inode::Files,
    lines::{JournalEnd, Lines},
    places::Places,
    precondition::{self, Admission},
    schema::FORMAT,
    work,
};
use crate::{
    store::{
        backend::{AppliedBatch, Rejected, StoreSettings, WriteBatch},
        error::Unavailable,
    },
    telemetry,
};

/// The shortest wait for a lock, unless the busy timeout is shorter. What waited only because this
/// process has much to write does not fail because another one commits at that moment.
const LEAST_MS: u64 = 10;

/// The time for which a look at the file after a commit counts as that before the next one, so that
/// a busy store looks once for each group. What is moved within it is noticed after the commit.
const LOOKED: Duration = Duration::from_millis(10);

pub(super) type WriteOutcome = Result<Result<AppliedBatch, Rejected>, Unavailable>;

pub(super) type Opened = Box<dyn Fn(&mut Connection) -> rusqlite::Result<()> + Send>;

/// The writing connection, and how batches are grouped into transactions on it.
pub(super) struct Group {
    path: PathBuf,
    settings: StoreSettings,
    /// To notice that the file or its log was moved away.
    place: Files,
    /// When they were last found in place after a commit.
    looked_at: Option<Instant>,
    /// None after an error that left the connection in doubt; it is opened again for the next
    /// group. It waits for a lock only in [`begin`].
    connection: Option<Connection>,
    /// Set while a committed transaction of this connection was the last one that it knows of.
    known: Option<Known>,
    numbers: Numbers,
    places: Places,
    opened: Opened,
    checkpoints: Arc<CheckpointState>,
}

/// The facts that a transaction begins with. They hold until another connection commits.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// SQLite's `data_version`, which changes when another connection commits.
    version: i64,
    end: JournalEnd,
    /// There are inboxes, leases or children in the file.
    consequences: bool,
}

impl Known {
    /// Reads them in a transaction, unless `last` has them.
    fn at_begin(connection: &Connection, last: Option<Self>) -> Result<Self, RollbackCause> {
        let version = connection.get("PRAGMA data_version", [], |row| row.get(0))?;
        if let Some(last) = last.filter(|last| last.version == version) {
            return Ok(last);
        }
        check_format(connection)?;
        let consequences = work::drives(connection)?;
        Ok(Self { version, end: JournalEnd::read(connection)?, consequences })
    }
}

enum GroupFailure {
    Begin(Unavailable),
    Write(Unavailable),
}

impl Group {
    pub(super) fn new(
        path: PathBuf,
        place: Files,
        settings: StoreSettings,
        mut connection: Connection,
        opened: Opened,
        checkpoints: Arc<CheckpointState>,
    ) -> rusqlite::Result<Self> {
        opened(&mut connection)?;
        connection::wait(&connection, 0)?;
        Ok(Self {
            place,
            looked_at: None,
            path,
            settings,
            connection: Some(connection),
            known: None,
            numbers: Numbers::default(),
            places: Places::default(),
            opened,
            checkpoints,
        })
    }

    /// Writes the batches in one transaction. If one of them causes an error, each gets a separate
    /// transaction, so that the others succeed. Each has waited since its time, and a group waits
    /// as long as its first one. An error concerns all of them: the transaction could not begin.
    pub(super) fn run(
        &mut self,
        jobs: &[(&WriteBatch, Instant)],
    ) -> Result<Vec<WriteOutcome>, Unavailable> {
        let Some((_, since)) = jobs.first() else { return Ok(Vec::new()) };
        let batches: Vec<&WriteBatch> = jobs.iter().map(|(batch, _)| *batch).collect();
        match self.transaction(&batches, *since) {
            Ok(outcomes) => Ok(outcomes),
            Err(GroupFailure::Begin(error)) => Err(error),
            Err(GroupFailure::Write(error)) if jobs.len() == 1 => Ok(vec![Err(error)]),
            Err(GroupFailure::Write(_)) => {
                // Each of them gets its own error.
                telemetry::StoragePostponed { operation: "group_commit", status: None }.emit();
                let alone = |job: &(&WriteBatch, Instant)| {
                    self.run(&[*job]).unwrap_or_else(|error| vec![Err(error)])
                };
                Ok(jobs.iter().flat_map(alone).collect())
            }
        }
    }

    fn transaction(
        &mut self,
        batches: &[&WriteBatch],
        since: Instant,
    ) -> Result<Vec<WriteOutcome>, GroupFailure> {
        self.connection().map_err(GroupFailure::Begin)?;
        // It was opened in the line above.
        let Some(connection) = &self.connection else {
            return Err(GroupFailure::Begin(Unavailable::Stopped));
        };
        fail_point!("store-begin");
        let left_ms = left_ms(self.settings.busy_ms, since.elapsed());
        begin(connection, &self.checkpoints, left_ms)
            .map_err(|error| GroupFailure::Begin(unavailable(&error)))?;
        fail_point!("store-begun");
        let mut known = match Known::at_begin(connection, self.known.take()) {
            Ok(known) => known,
            Err(failure) => {
                self.roll_back();
                return Err(GroupFailure::Begin(failure.0));
            }
        };
        // A write to a file that the path no longer leads to would be lost.
        let looked_at = self.looked_at.take();
        let is_fresh = looked_at.is_some_and(|at| at.elapsed() < LOOKED);
        if !is_fresh && !self.place.is_in_place(&self.path) {
            self.roll_back();
            return Err(GroupFailure::Begin(Unavailable::Moved));
        }
        let caches = (&mut self.numbers, &mut self.places);
        let written = write(connection, &self.settings, caches, &mut known, batches);
        let (outcomes, wrote) = match written {
            Ok(written) => written,
            Err(failure) => {
                self.roll_back();
                return Err(GroupFailure::Write(failure.0));
            }
        };
        match commit(connection) {
            Ok(()) => {
                self.known = Some(known);
                self.numbers.committed();
                // If the file was moved since the last look, it is unknown where the commit is. A
                // group that wrote nothing needs no second look, unless the first was skipped.
                let has_to_look = wrote.is_some() || is_fresh;
                if has_to_look && !self.place.is_in_place(&self.path) {
                    let error = Unavailable::indeterminate(Unavailable::Moved);
                    return Ok(outcomes.into_iter().map(|it| it.and(Err(error.clone()))).collect());
                }
                self.looked_at = wrote.map(|_| Instant::now());
                Ok(outcomes)
            }
            Err(error) => Ok(self.decide(batches, outcomes, wrote, &error)),
        }
    }

    /// Opens the connection again if it was lost.
    pub(super) fn connection(&mut self) -> Result<&Connection, Unavailable> {
        if self.connection.is_none() {
            let busy_ms = self.settings.busy_ms;
            reopens().map_err(|error| unavailable(&error))?;
            let mut connection =
                self.place.open(&self.path, Role::Writer, busy_ms).map_err(reopening)?;
            (self.opened)(&mut connection)
                .and_then(|()| connection::wait(&connection, 0))
                .map_err(|error| unavailable(&error))?;
            self.connection = Some(connection);
        }
        self.connection.as_ref().ok_or(Unavailable::Stopped)
    }

    pub(super) fn close(&mut self) {
        self.connection = None;
    }

    fn roll_back(&mut self) {
        self.numbers.rolled_back();
        // Some errors roll back automatically.
        let failed = self.connection.as_ref().is_some_and(|connection| {
            !connection.is_autocommit() && connection.run("ROLLBACK", []).is_err()
        });
        if failed {
            self.connection = None;
        }
    }

    /// After an error of COMMIT, finds out whether the transaction is in the file.
    fn decide(
        &mut self,
        batches: &[&WriteBatch],
        outcomes: Vec<WriteOutcome>,
        wrote: Option<usize>,
        error: &rusqlite::Error,
    ) -> Vec<WriteOutcome> {
        self.numbers.rolled_back();
        self.connection = None;
        let probe = wrote.and_then(|index| match &outcomes[index] {
            Ok(Ok(applied)) => Some((batches[index], applied.clone())),
            _ => None,
        });
        // Nothing was to be written.
        let Some((batch, applied)) = probe else { return outcomes };
        let nothing = unavailable(error);
        let certainly_incomplete = nothing.is_busy() || nothing == Unavailable::Full;
        match self.is_there(batch, &applied, certainly_incomplete) {
            Ok(true) => outcomes,
            // Nothing shows whether events were recorded.
            Ok(false) if batch.writes.is_empty() && !certainly_incomplete => {
                vec![Err(Unavailable::indeterminate(error)); batches.len()]
            }
            Ok(false) => vec![Err(nothing); batches.len()],
            Err(_) => {
                let status = sqlite_code(error);
                telemetry::StorageFailed { operation: "commit_outcome", status }.emit();
                let unknown = |outcome| match outcome {
                    Ok(Ok(_)) => Err(Unavailable::indeterminate(error)),
                    _ => Err(nothing.clone()),
                };
                outcomes.into_iter().map(unknown).collect()
            }
        }
    }

    fn is_there(
        &mut self,
        batch: &WriteBatch,
        applied: &AppliedBatch,
        certainly_incomplete: bool,
    ) -> Result<bool, Unavailable> {
        let (checkpoints, busy_ms) = (Arc::clone(&self.checkpoints), self.settings.busy_ms);
        let connection = self.connection()?;
        let says = |error| unavailable(&error);
        if certainly_incomplete {
            return apply::is_there(connection, batch, applied).map_err(says);
        }
        // If only the fsync failed, the log ends with a complete transaction that is invisible
        // until a crash; recovery would bring it back. So the next write replaces it before
        // anything is said.
        begin(connection, &checkpoints, busy_ms).map_err(says)?;
        let found = apply::is_there(connection, batch, applied).map_err(RollbackCause::from);
        let decided = found.and_then(|found| {
            check_format(connection)?;
            if !found {
                connection.pragma_update(None, "user_version", FORMAT)?;
            }
            connection.run("COMMIT", [])?;
            Ok(found)
        });
        decided.map_err(|failure| {
            // In doubt again: the next group opens another connection.
            self.connection = None;
            failure.0
        })
    }
}

/// Checks and writes the batches. Also returns the index of one that wrote something, if possible
/// of one that wrote a machine, because that can be recognized later.
fn write(
    connection: &Connection,
    settings: &StoreSettings,
    (numbers, places): (&mut Numbers, &mut Places),
    Known { end, consequences, .. }: &mut Known,
    batches: &[&WriteBatch],
) -> Result<(Vec<WriteOutcome>, Option<usize>), RollbackCause> {
    let db = Keyed { connection, key: &settings.key };
    let mut lines = Lines::after(*end);
    let mut wrote = None;
    let mut outcomes = Vec::with_capacity(batches.len());
    for (index, &batch) in batches.iter().enumerate() {
        let alone = (batch, *consequences);
        if let Some(applied) = apply::apply_alone(db, places, numbers, &mut lines, alone)? {
            fail_point!("store-write");
            wrote = Some(index);
            outcomes.push(Ok(Ok(applied)));
            continue;
        }
        let outcome = match precondition::check(db, batch)? {
            Admission::Rejected(rejected) => Err(rejected),
            Admission::Done(machines) => {
                Ok(apply::applied_before(connection, batch, &machines, &lines)?)
            }
            Admission::Write(rows, admitted) => {
                fail_point!("store-checked");
                if wrote.is_none_or(|other: usize| batches[other].writes.is_empty()) {
                    wrote = Some(index);
                }
                *consequences |= !batch.has_no_work();
                let known = (&mut *numbers, &mut *places);
                let of = (batch, *consequences);
                Ok(apply::apply(db, known, &mut lines, of, (&rows, admitted))?)
            }
        };
        outcomes.push(Ok(outcome));
    }
    *end = lines.insert(db)?;
    Ok((outcomes, wrote))
}

/// Another program may have upgraded the file since it was opened.
fn check_format(connection: &Connection) -> Result<(), RollbackCause> {
    let found = connection.get("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
    if found == FORMAT {
        Ok(())
    } else {
        Err(RollbackCause(Unavailable::Format { found, known: FORMAT }))
    }
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    fail_point_with_error!("store-commit");
    connection.run("COMMIT", [])?;
    fail_point_with_error!("store-committed");
    Ok(())
}

#[allow(clippy::unnecessary_wraps, reason = "a fail point can return an error")]
fn reopens() -> rusqlite::Result<()> {
    fail_point_with_error!("store-reopen");
    Ok(())
}

/// The time that is left to wait for a lock, for those that have waited.
pub(super) fn left_ms(busy_ms: u64, waited: Duration) -> u64 {
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    busy_ms.saturating_sub(waited_ms).max(busy_ms.min(LEAST_MS))
}

/// Begins a transaction that writes, and waits for other writers.
fn begin(
    connection: &Connection,
    checkpoints: &CheckpointState,
    busy_ms: u64,
) -> rusqlite::Result<()> {
    connection::wait_for_lock(busy_ms, || {
        checkpoints.retry_after_truncation(|| connection.run("BEGIN IMMEDIATE", []))
    })
}
