use std::{sync::Arc, time::Duration};

use rusqlite::{Connection, Row, params};

use super::{
    SqliteStore,
    columns::Columns,
    definitions::{Definitions, restored},
    key::holder,
};
use crate::{
    clock::Millis,
    contract::execution::Status,
    erased::{Durable, Record, Restore, Unverified, VerifyError},
    id::Id,
    journal::Entry,
    store::{Resume, StoreError},
    typed::State,
};

/// An item of [`SqliteStore::list`] and [`SqliteStore::due`], from the row of a machine. Not
/// verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The machine's identity.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// The session of the machine.
    pub session: Option<String>,
    /// The confirmation that must complete before it may run.
    pub behind: Option<Id>,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When its last journal entry was made (milliseconds since the Unix epoch).
    pub updated_at: Millis,
    /// When its next deadline is due, if any (milliseconds since the Unix epoch).
    pub due_at: Option<Millis>,
}

impl SqliteStore {
    /// Loads a machine in any state, and verifies it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if no machine has this id, [`StoreError::Unreadable`] if it is of
    /// another kind, fails verification, or is incompatible with this program.
    pub async fn load<M: Restore>(&self, id: Id) -> Result<M, StoreError> {
        let definitions = Arc::clone(&self.shared.definitions);
        let stored = self
            .shared
            .thread
            .run(move |connection| read(&*connection.transaction()?, &definitions, id))
            .await?;
        Ok(stored.verify()?)
    }

    /// Loads a waiting machine to resume it (EX-7). It must exist, pass verification, be in state `S`
    /// and not in doubt, and no other execution may have completed its action.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), [`StoreError::OtherState`], [`StoreError::InDoubt`] and
    /// [`StoreError::AlreadyDone`].
    pub async fn resume<S>(&self, id: Id) -> Result<S::Machine, StoreError>
    where
        S: State<Any: Restore>,
    {
        self.resume_with::<S>(id, Resume::default()).await
    }

    /// Like [`resume`](Self::resume), with further checks.
    ///
    /// # Errors
    ///
    /// Those of [`resume`](Self::resume), and [`StoreError::Expired`].
    pub async fn resume_with<S>(&self, id: Id, checks: Resume) -> Result<S::Machine, StoreError>
    where
        S: State<Any: Restore>,
    {
        let machine: S::Any = self.load(id).await?;
        let definition = machine.definition();
        let (found, wanted) = (machine.state_index(), S::INDEX);
        if found != wanted {
            return Err(StoreError::OtherState {
                id,
                expected: &definition.states[wanted].label,
                found: &definition.states[found].label,
                legal: definition.legal_moves(found).to_string(),
            });
        }
        let entries = machine.journal().entries();
        let projection = machine.rules().projection(entries);
        if projection.permit.is_some() {
            return Err(StoreError::InDoubt { id });
        }
        // If the clock went back, the age is 0.
        let age = entries.last().map_or(0, |last| self.shared.clock.now().saturating_sub(last.at));
        let age_ms = u64::try_from(age).unwrap_or(0);
        if let Some(limit) = checks.max_age
            && Duration::from_millis(age_ms) > limit
        {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            return Err(StoreError::Expired { id, age_ms, limit_ms });
        }
        let status = &*definition.states[wanted].name;
        let known = Arc::clone(&self.shared.definitions);
        let (key, session) = (projection.key, projection.session);
        let in_session = session.clone();
        let (holder, waiting) = self
            .shared
            .thread
            .run(move |connection| {
                let transaction = connection.transaction()?;
                let connection = &*transaction;
                let holder = match (&key, projection.action) {
                    (Some(key), Some(action)) if projection.exclusive => {
                        holder(connection, &known, key, action, id)?
                    }
                    _ => None,
                };
                // Counting looks at every machine of the session, so it is done on request only.
                let waiting = checks
                    .resuming
                    .map(|_| count(connection, &definition.name, in_session.as_deref(), status));
                Ok((holder, waiting.transpose()?))
            })
            .await?;
        if let Some((by, Status::Completed)) = holder {
            return Err(StoreError::AlreadyDone { by });
        }
        if let (Some(resuming), Some(waiting)) = (checks.resuming, waiting)
            && resuming != waiting
        {
            tracing::warn!(
                resuming,
                waiting,
                session = session.as_deref(),
                "the number of resumed machines differs from the number that wait"
            );
        }
        S::narrow(machine).map_err(|_| StoreError::NotFound { id })
    }

    /// The machines of a session, or of all sessions, oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] if another process locks the database for too long.
    pub async fn list(&self, session: Option<&str>) -> Result<Vec<Listed>, StoreError> {
        let session = session.map(str::to_owned);
        self.shared
            .thread
            .run(move |connection| {
                let mut select = connection.prepare_cached(
                    "SELECT id, machine, status, session, behind, created_at, updated_at, due_at
                     FROM instance WHERE ?1 IS NULL OR session = ?1 ORDER BY created_at, id",
                )?;
                let mut rows = select.query([session])?;
                let mut listed = Vec::new();
                while let Some(row) = rows.next()? {
                    match line(row) {
                        Ok(line) => listed.push(line),
                        // A malformed row does not hide the rest.
                        Err(error) => tracing::error!(%error, "a row cannot be listed"),
                    }
                }
                Ok(listed)
            })
            .await
    }
}

pub(super) fn line(row: &Row<'_>) -> Result<Listed, StoreError> {
    let behind: Option<String> = row.get(4)?;
    Ok(Listed {
        id: stored_id(&row.get::<_, String>(0)?)?,
        machine: row.get(1)?,
        status: row.get(2)?,
        session: row.get(3)?,
        behind: behind.as_deref().map(stored_id).transpose()?,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
        due_at: row.get(7)?,
    })
}

fn count(
    connection: &Connection,
    machine: &str,
    session: Option<&str>,
    status: &str,
) -> Result<usize, StoreError> {
    let count: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM instance WHERE machine = ?1 AND session IS ?2 AND status = ?3",
        )?
        .query_row(params![machine, session, status], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// A machine on disk, before verification.
pub(super) struct Stored {
    claim: Unverified,
    columns: Columns,
}

impl Stored {
    /// Verifies the machine, and that its index columns match it.
    pub(super) fn verify<M: Restore>(self) -> Result<M, VerifyError> {
        let id = self.claim.record.id;
        let missing = self.claim.record.version != self.claim.journal.len() as u64;
        let machine: M = self.claim.verify()?;
        let projection = machine.rules().projection(machine.journal().entries());
        if missing || self.columns != Columns::of(&projection, machine.journal().deadlines()) {
            let reason = "its row was changed: it does not match its journal";
            return Err(VerifyError::History { id, reason: reason.to_owned() });
        }
        Ok(machine)
    }
}

/// Reads a machine and its journal. Call it within a transaction, so that both are consistent.
pub(super) fn read(
    connection: &Connection,
    definitions: &Definitions,
    id: Id,
) -> Result<Stored, StoreError> {
    let (record, columns) = connection
        .prepare_cached(&format!(
            "SELECT machine, definition, status, state, context, version, epoch, seal, {}
             FROM instance WHERE id = ?1",
            Columns::NAMES
        ))?
        .query_row([id.to_string()], |row| {
            let number = |column: usize| -> rusqlite::Result<u64> {
                let number: i64 = row.get(column)?;
                u64::try_from(number)
                    .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
            };
            let seal: String = row.get(7)?;
            let seal = seal.parse().map_err(|error| broken(7, error))?;
            let record = Record {
                id,
                machine: row.get(0)?,
                fingerprint: restored(row.get(1)?),
                status: row.get(2)?,
                state: row.get(3)?,
                context: row.get(4)?,
                version: number(5)?,
                epoch: number(6)?,
                seal,
            };
            Ok((record, Columns::read(row, 8)?))
        })
        .map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => StoreError::NotFound { id },
            rusqlite::Error::SqliteFailure(..) => error.into(),
            // This library did not write this value.
            other => {
                VerifyError::History { id, reason: format!("its row is malformed: {other}") }.into()
            }
        })?;
    let journal = read_journal(connection, id)?;
    let entries = journal.iter().map(|entry| entry.definition);
    let definitions =
        definitions.read(connection, &record.machine, entries.chain([record.fingerprint]))?;
    Ok(Stored { claim: Unverified { record, journal, definitions }, columns })
}

fn read_journal(connection: &Connection, id: Id) -> Result<Vec<Entry>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT number, at, actor, definition, fact, digest FROM journal WHERE instance = ?1 ORDER BY number",
    )?;
    let mut rows = select.query([id.to_string()])?;
    let mut journal = Vec::new();
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let actor: Option<String> = row.get(2)?;
        let fact: String = row.get(4)?;
        let digest: String = row.get(5)?;
        let fact = serde_json::from_str(&fact).map_err(|error| VerifyError::History {
            id,
            reason: format!("entry {number} of its journal cannot be read: {error}"),
        })?;
        journal.push(Entry {
            number: number.unsigned_abs(),
            at: row.get(1)?,
            actor: actor.map(Into::into),
            definition: restored(row.get(3)?),
            fact,
            digest: digest.parse().map_err(|error| broken(5, error))?,
        });
    }
    Ok(journal)
}

/// A value that this library did not write is an error, not a panic.
fn broken(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

/// An id from a row. A malformed row is an error, not a panic.
pub(super) fn stored_id(text: &str) -> Result<Id, StoreError> {
    text.parse().map_err(|error| {
        let text = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(0, text, Box::new(error)).into()
    })
}
