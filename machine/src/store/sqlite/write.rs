use std::sync::Arc;

use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::{
    SqliteStore,
    columns::Columns,
    definitions::{Definitions, stored},
    key::holder,
    read::{read, stored_id},
};
use crate::{
    clock::Millis,
    contract::{AnyExecution, execution::Status},
    erased::{Durable, Projection, Record},
    id::Id,
    journal::{Entry, Fact, Pass},
    store::StoreError,
};

impl SqliteStore {
    /// Stores a new machine with its whole journal.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyDone`] if the machine would repeat a completed irreversible action
    /// (EX-5), [`StoreError::KeyReused`] if its key belongs to another action, and those of
    /// [`commit`](Self::commit). The machine is unchanged.
    pub async fn create<M: Durable>(&self, machine: &mut M) -> Result<(), StoreError> {
        self.create_all(&mut [machine]).await
    }

    /// Stores new machines: all of them or, on an error, none.
    ///
    /// # Errors
    ///
    /// See [`create`](Self::create).
    pub async fn create_all(&self, machines: &mut [&mut dyn Durable]) -> Result<(), StoreError> {
        let mut writes = Vec::with_capacity(machines.len());
        for machine in machines.iter_mut() {
            if machine.journal().version() > 0 {
                return Err(StoreError::AlreadyStored { id: machine.journal().id() });
            }
            writes.push(self.write_of(*machine).await?);
        }
        self.transact(move |transaction| {
            writes.iter().try_for_each(|write| {
                write.may_be_created(transaction)?;
                write.insert(transaction)
            })
        })
        .await?;
        for machine in machines {
            machine.__journal_mut(Pass::new()).mark_committed();
        }
        Ok(())
    }

    /// Writes everything that happened to the machine since it was loaded or last committed, in one
    /// transaction. When it returns, it is on disk.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if another commit changed the machine in the meantime; nothing was
    /// written. [`StoreError::Refused`] if the rules of the machine's context forbid it.
    /// [`StoreError::Busy`] if another process locks the database for too long. The machine is
    /// unchanged, so that the commit can be retried.
    pub async fn commit<M: Durable>(&self, machine: &mut M) -> Result<(), StoreError> {
        if machine.journal().uncommitted().is_empty() {
            return Ok(());
        }
        let write = self.write_of(machine).await?;
        if write.version == 0 {
            return Err(StoreError::NeverStored { id: write.record.id });
        }
        self.transact(move |transaction| write.update(transaction)).await?;
        machine.__journal_mut(Pass::new()).mark_committed();
        Ok(())
    }

    /// Prepares a commit of the machine.
    pub(super) async fn write_of(&self, machine: &mut dyn Durable) -> Result<Write, StoreError> {
        self.shared.definitions.keep(&self.shared.thread, machine.definition()).await?;
        machine.__journal_mut(Pass::new()).make_deadlines_absolute(self.shared.clock.now());
        Write::of(machine, Arc::clone(&self.shared.definitions))
    }

    /// Runs `work` in one immediate transaction, so that what it reads cannot change before it
    /// writes.
    pub(super) async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.shared
            .thread
            .run(move |connection: &mut Connection| {
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let result = work(&transaction)?;
                transaction.commit()?;
                Ok(result)
            })
            .await
    }
}

/// The data of a commit, prepared on the caller's thread.
pub(super) struct Write {
    record: Record,
    /// The expected version and epoch on disk, for compare-and-set.
    version: u64,
    epoch: u64,
    created_at: Millis,
    updated_at: Millis,
    projection: Projection,
    columns: Columns,
    /// Whether the machine leaves its initial state.
    begins: bool,
    definitions: Arc<Definitions>,
    entries: Vec<(Entry, String)>,
}

impl Write {
    fn of(machine: &dyn Durable, definitions: Arc<Definitions>) -> Result<Self, StoreError> {
        let journal = machine.journal();
        let id = journal.id();
        let unwritable = |source| StoreError::Unwritable { id, source };
        machine
            .rules()
            .admit(journal.entries())
            .map_err(|breach| StoreError::Refused { id, breach })?;
        let record = Record::of(machine).map_err(unwritable)?;
        let mut entries = Vec::with_capacity(journal.uncommitted().len());
        for entry in journal.uncommitted() {
            let body = entry.body().map_err(unwritable)?;
            // Data that cannot be read back must not be written.
            serde_json::from_str::<Fact>(&body).map_err(unwritable)?;
            entries.push((entry.clone(), body));
        }
        let initial = &machine.definition().states[machine.definition().initial].name;
        let begins = entries
            .iter()
            .any(|(entry, _)| matches!(&entry.fact, Fact::Moved { from, .. } if from == initial));
        let projection = machine.rules().projection(journal.entries());
        let at = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.at);
        Ok(Self {
            record,
            version: journal.version(),
            epoch: journal.committed_epoch(),
            created_at: at(journal.entries().first()),
            updated_at: at(journal.entries().last()),
            columns: Columns::of(&projection, journal.deadlines()),
            projection,
            begins,
            definitions,
            entries,
        })
    }

    /// Writes a new machine.
    fn insert(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        self.gate_is_open(transaction)?;
        let Self { record, columns, .. } = self;
        let inserted = transaction
            .prepare_cached(
                "INSERT INTO instance (id, machine, definition, status, state, context, version,
                     epoch, seal, created_at, updated_at, session, key, holds_key, action, behind,
                     confirms, worker, expires_at, due_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20)",
            )?
            .execute(params![
                record.id.to_string(),
                record.machine,
                stored(record.fingerprint),
                record.status,
                record.state,
                record.context,
                sql_integer(self.entries.len() as u64),
                sql_integer(record.epoch),
                record.seal.to_string(),
                self.created_at,
                self.updated_at,
                columns.session,
                columns.key,
                columns.holds_key,
                columns.action,
                columns.behind,
                columns.confirms,
                columns.worker,
                columns.expires_at,
                columns.due_at,
            ]);
        match inserted {
            Ok(_) => self.append(transaction),
            Err(error) => Err(self.refused(transaction, error)),
        }
    }

    /// What a constraint that SQLite enforces says in the terms of the store.
    fn refused(&self, transaction: &Transaction<'_>, error: rusqlite::Error) -> StoreError {
        if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
            return error.into();
        }
        match self.key_holder(transaction) {
            Ok(Some(by)) => StoreError::KeyHeld { by },
            Ok(None) => StoreError::AlreadyStored { id: self.record.id },
            Err(error) => error,
        }
    }

    /// The other machine that holds the key which this one would hold, as its row says.
    fn key_holder(&self, transaction: &Transaction<'_>) -> Result<Option<Id>, StoreError> {
        let (Some(key), true) = (&self.columns.key, self.columns.holds_key) else {
            return Ok(None);
        };
        let holder: Option<String> = transaction
            .prepare_cached(
                "SELECT id FROM instance WHERE key = ?1 AND holds_key = 1 AND id <> ?2",
            )?
            .query_row(params![key, self.record.id.to_string()], |row| row.get(0))
            .optional()?;
        holder.as_deref().map(stored_id).transpose()
    }

    /// Updates a stored machine, if version and epoch on disk are unchanged (compare-and-set).
    pub(super) fn update(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        self.gate_is_open(transaction)?;
        let Self { record, columns, .. } = self;
        let id = record.id;
        let updated = transaction
            .prepare_cached(
                "UPDATE instance
                 SET status = ?4, state = ?5, version = ?6, epoch = ?7, seal = ?8, updated_at = ?9,
                     holds_key = ?10, worker = ?11, expires_at = ?12, due_at = ?13,
                     definition = ?14, context = ?15
                 WHERE id = ?1 AND version = ?2 AND epoch = ?3",
            )?
            .execute(params![
                id.to_string(),
                sql_integer(self.version),
                sql_integer(self.epoch),
                record.status,
                record.state,
                sql_integer(self.version + self.entries.len() as u64),
                sql_integer(record.epoch),
                record.seal.to_string(),
                self.updated_at,
                columns.holds_key,
                columns.worker,
                columns.expires_at,
                columns.due_at,
                stored(record.fingerprint),
                record.context,
            ]);
        match updated {
            Ok(1) => self.append(transaction),
            Ok(_) if exists(transaction, id)? => Err(StoreError::Conflict { id }),
            Ok(_) => Err(StoreError::NotFound { id }),
            Err(error) => Err(self.refused(transaction, error)),
        }
    }

    fn append(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO journal (instance, number, at, actor, definition, fact, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let id = self.record.id.to_string();
        for (entry, body) in &self.entries {
            insert.execute(params![
                id,
                sql_integer(entry.number),
                entry.at,
                entry.actor.as_deref(),
                stored(entry.definition),
                body,
                entry.digest.to_string(),
            ])?;
        }
        Ok(())
    }

    /// EX-5: a completed action is not created again, and a key belongs to one action.
    fn may_be_created(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        match self.holder(transaction)? {
            Some((by, Status::Completed)) => Err(StoreError::AlreadyDone { by }),
            _ => Ok(()),
        }
    }

    /// EX-5: no other execution has completed this action or holds its key.
    pub(super) fn may_take_key(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        match self.holder(transaction)? {
            Some((by, Status::Completed)) => Err(StoreError::AlreadyDone { by }),
            Some((by, _)) => Err(StoreError::KeyHeld { by }),
            None => Ok(()),
        }
    }

    /// The other execution that holds the key; an error if it uses the key for another action.
    fn holder(&self, transaction: &Transaction<'_>) -> Result<Option<(Id, Status)>, StoreError> {
        match &self.projection {
            Projection { exclusive: true, key: Some(key), action: Some(action), .. } => {
                holder(transaction, &self.definitions, key, *action, self.record.id)
            }
            _ => Ok(None),
        }
    }

    /// EX-9: the confirmation is COMPLETED, and it is for this exact action. The confirmation is
    /// verified like every stored machine.
    fn gate_is_open(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        let id = self.record.id;
        let Some(gate) = self.projection.behind.filter(|_| self.begins) else { return Ok(()) };
        let confirmation: AnyExecution = read(transaction, &self.definitions, gate)?.verify()?;
        let status = confirmation.status();
        match status {
            Status::Completed => {}
            Status::Failed | Status::Rejected | Status::Cancelled => {
                return Err(StoreError::NeverRuns { id, gate, status });
            }
            Status::Pending | Status::Running | Status::Waiting => {
                return Err(StoreError::Deferred { id, gate, status });
            }
        }
        if confirmation.context().confirms() != self.projection.action {
            return Err(StoreError::OtherAction { id, gate });
        }
        Ok(())
    }
}

fn exists(connection: &Connection, id: Id) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM instance WHERE id = ?1")?
        .exists([id.to_string()])?)
}

/// `SQLite` integers are signed. No journal exceeds that range.
fn sql_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
