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

/// A line of [`SqliteStore::list`]: where a machine stands, as its row says. Nothing is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The machine's identity.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// The confirmation that it waits for.
    pub behind: Option<Id>,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When something last happened to it (milliseconds since the Unix epoch).
    pub updated_at: Millis,
    /// When its next deadline fires, if one is running (milliseconds since the Unix epoch).
    pub due_at: Option<Millis>,
}

impl SqliteStore {
    /// Loads a machine, in whichever state it is, and verifies it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] when no machine has this id, [`StoreError::Unbelievable`] when it
    /// is of another kind or its journal does not bear it out.
    pub async fn load<M: Restore>(&self, id: Id) -> Result<M, StoreError> {
        let definitions = Arc::clone(&self.shared.definitions);
        let stored = self
            .shared
            .thread
            .run(move |connection| read(&*connection.transaction()?, &definitions, id))
            .await?;
        Ok(stored.verify()?)
    }

    /// Loads a machine that waits, to go on with it (EX-7): it must exist, its journal must bear
    /// it out, it must be in state `S`, it must not be in doubt, and nobody else may have done
    /// its action in the meantime.
    ///
    /// # Errors
    ///
    /// What [`load`](Self::load) says, [`StoreError::OtherState`], [`StoreError::InDoubt`] and
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
    /// What [`resume`](Self::resume) says, and [`StoreError::Expired`].
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
        // A clock that went back makes nothing old.
        let age = entries.last().map_or(0, |last| self.shared.clock.now() - last.at);
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
                Ok((holder, count(connection, &definition.name, in_session.as_deref(), status)?))
            })
            .await?;
        if let Some((by, Status::Completed)) = holder {
            return Err(StoreError::AlreadyDone { by });
        }
        if let Some(resuming) = checks.resuming
            && resuming != waiting
        {
            tracing::warn!(
                resuming,
                waiting,
                session = session.as_deref(),
                "the number of machines being resumed is not the number that wait"
            );
        }
        S::narrow(machine).map_err(|_| StoreError::NotFound { id })
    }

    /// Where every machine of a session stands, or of all sessions; oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] when another process holds the database for too long.
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
                        // One broken row does not hide the rest.
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

/// What stands on disk of one machine.
pub(super) struct Stored {
    claim: Unverified,
    columns: Columns,
}

impl Stored {
    pub(super) fn into_claim(self) -> Unverified {
        self.claim
    }

    /// Verifies the machine, and that it can be found by what it is.
    pub(super) fn verify<M: Restore>(self) -> Result<M, VerifyError> {
        let id = self.claim.record.id;
        let missing = self.claim.record.version != self.claim.journal.len() as u64;
        let machine: M = self.claim.verify()?;
        let projection = machine.rules().projection(machine.journal().entries());
        if missing || self.columns != Columns::of(&projection, machine.journal().deadlines()) {
            let reason = "its row was changed by hand: it is not what its journal leads to";
            return Err(VerifyError::History { id, reason: reason.to_owned() });
        }
        Ok(machine)
    }
}

/// Reads a machine and its journal. Within a transaction, so that they are of one moment.
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
            // What SQLite gave out is no value that this library wrote.
            other => {
                VerifyError::History { id, reason: format!("its row is broken: {other}") }.into()
            }
        })?;
    let journal = read_journal(connection, id)?;
    let entries = journal.iter().map(|entry| entry.definition);
    let definitions = definitions.read(connection, entries.chain([record.fingerprint]))?;
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

/// A value that cannot be what this library wrote: an error, not a panic.
fn broken(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

/// An id out of a row. A row that somebody broke is an error, not a panic.
pub(super) fn stored_id(text: &str) -> Result<Id, StoreError> {
    text.parse().map_err(|error| {
        let text = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(0, text, Box::new(error)).into()
    })
}
