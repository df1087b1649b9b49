use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    LoadError, Query, Store,
    backend::{Found, Messages, Row},
    check::Named,
    load::history,
};
use crate::{
    contract::AnyExecution,
    definition::Definition,
    id::Id,
    journal::{Digest, Summary},
    stored::{History, Record, Restore, Unverified, VerifyError, fold, replay, walk_as_data},
};

/// The result of [`Store::verify_all`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of machines.
    pub machines: u64,
    /// The number of journal entries.
    pub entries: u64,
    /// The number of journal entries that were pruned. Of these, the chain is verified.
    pub pruned: u64,
    /// What is wrong, in the order in which it was found.
    pub problems: Vec<Problem>,
}

/// Something in a store is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The machine, if it can be told.
    pub id: Option<Id>,
    /// What is wrong.
    pub reason: String,
}

/// How far [`Store::verify_all`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of machines that were verified.
    pub machines: u64,
    /// The number of journal entries that were read, of all machines.
    pub entries: u64,
    /// The number of journal entries in the store.
    pub total_entries: u64,
}

impl Report {
    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn add(&mut self, id: Option<Id>, reason: impl Into<String>) {
        self.problems.push(Problem { id, reason: reason.into() });
    }
}

impl Store {
    /// Verifies the whole history of a machine: replays its journal along the definitions that it was
    /// written under, folds it again, and compares the result with what [`load`](Self::load) trusts.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), with the first problem.
    pub async fn verify<M: Restore>(&self, id: Id) -> Result<(), LoadError> {
        let (found, history) = self.row_and_history(id).await?;
        let definitions = self.definition_of(&found).await?;
        self.replay::<M>(found, history, &definitions)
    }

    /// The row of a machine, and the history of the same version.
    async fn row_and_history(&self, id: Id) -> Result<(Found, History), LoadError> {
        let mut newest = 0;
        loop {
            let found = self.inner.backend.rows(vec![id]).await?.pop();
            let (found, version) = match found.unwrap_or(Found::Missing(id)) {
                Found::Missing(id) => return Err(LoadError::NotFound { id }),
                Found::Broken(broken) => return Err(broken.into()),
                found @ Found::Row(Row { version, .. }, _) => (found, version),
            };
            let history = self.history(id).await?;
            if history.entries.len() as u64 <= version {
                return Ok((found, history));
            }
            // A commit may have come in between. Then the row has moved on.
            if version <= newest {
                let reason = "its journal has more entries than its row says";
                return Err(history_error(id, reason.to_owned()));
            }
            newest = version;
        }
    }

    /// Verifies everything in the store: each machine as [`verify`](Self::verify) does, the definitions,
    /// the chain over the whole journal, the attempts at each key, the messages, and the operator log. Machines of a
    /// kind that the program has not declared with [`OpenOptions::machine`](super::OpenOptions::machine) are
    /// replayed along their stored definitions, but the rules of their contexts are not known.
    ///
    /// Calls `progress` after each machine.
    ///
    /// ```
    /// # async fn example(store: &machine::store::Store) -> Result<(), machine::store::LoadError> {
    /// let report = store.verify_all(|progress| {
    ///     eprintln!("{} of {} entries", progress.entries, progress.total_entries);
    /// }).await?;
    /// for problem in &report.problems {
    ///     eprintln!("{:?}: {}", problem.id, problem.reason);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now. What is wrong with the data is
    /// in the [`Report`].
    pub async fn verify_all(
        &self,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report, LoadError> {
        let mut report = Report::default();
        let mut named = self.inner.named.clone();
        named.push(Named::of::<AnyExecution>());
        for reason in self.inner.backend.definitions().await?.broken {
            report.add(None, reason);
        }
        let total_entries = self.inner.backend.newest().await?;
        let mut of_machines = 0;
        let mut query = Query::new();
        loop {
            let (rows, next) = self.rows(&query, true).await?;
            for (_, found) in rows {
                report.machines += 1;
                of_machines += self.verify_row(found, &named, &mut report).await?;
                let machines = report.machines;
                progress(Progress { machines, entries: of_machines, total_entries });
            }
            match next {
                Some(next) => query = query.after(next),
                None => break,
            }
        }
        let opened = self.verify_chain(&mut report).await?;
        self.verify_attempts(opened, &mut report).await?;
        self.verify_operations(&mut report).await?;
        for message in self.inner.backend.messages(Messages::All).await? {
            if let Err(broken) = message {
                report.add(broken.id, broken.reason);
            }
        }
        Ok(report)
    }

    /// Verifies one machine of any kind, as [`verify_all`](Self::verify_all) does.
    #[cfg(feature = "cli")]
    pub(crate) async fn verify_machine(&self, id: Id) -> Result<Report, LoadError> {
        let mut named = self.inner.named.clone();
        named.push(Named::of::<AnyExecution>());
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        let found = found.unwrap_or(Found::Missing(id));
        if let Found::Missing(id) = found {
            return Err(LoadError::NotFound { id });
        }
        let mut report = Report { machines: 1, ..Report::default() };
        report.entries = self.verify_row(found, &named, &mut report).await?;
        Ok(report)
    }

    /// Verifies one machine; returns the number of its entries.
    pub(super) async fn verify_row(
        &self,
        found: Found,
        named: &[Named],
        report: &mut Report,
    ) -> Result<u64, LoadError> {
        let (id, version, key) = match &found {
            Found::Row(row, _) => (row.id, row.version, row.key.clone()),
            Found::Missing(id) => {
                report.add(Some(*id), "it disappeared");
                return Ok(0);
            }
            Found::Broken(broken) => {
                report.add(broken.id, broken.reason.clone());
                return Ok(0);
            }
        };
        let (found, history) = match self.row_and_history(id).await {
            Ok(read) => read,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // It was pruned in between. If it was removed by an edit, the chain shows that.
            Err(_) if self.is_gone(id).await? => return Ok(version),
            Err(error) => {
                report.add(Some(id), error.to_string());
                return Ok(version);
            }
        };
        let Found::Row(Row { machine, version, .. }, _) = &found else { return Ok(version) };
        let version = *version;
        let definitions = self.definition_of(&found).await?;
        let mut kinds = named.iter();
        let kind = kinds.find(|kind| kind.definition.name == *machine);
        let verified = match kind {
            // If the user's code panics, that concerns this machine only.
            Some(kind) => {
                catch_unwind(AssertUnwindSafe(|| (kind.verify)(self, found, history, &definitions)))
                    .unwrap_or_else(|_| Err(history_error(id, "reading it panicked".to_owned())))
            }
            None => self.replay_as_data(&found, history, &definitions),
        };
        if let Err(error) = verified {
            if self.is_gone(id).await? {
                return Ok(version);
            }
            report.add(Some(id), error.to_string());
        }
        if let (Some(kind), Some(key)) = (kind, key)
            && let Some(reason) = self.differing_attempt(kind, id, &key).await?
        {
            report.add(Some(id), reason);
        }
        for child in self.inner.backend.children(id).await? {
            if let Err(broken) = child {
                report.add(broken.id, broken.reason);
            }
        }
        Ok(version)
    }

    /// Whether there is no machine with this id any more.
    async fn is_gone(&self, id: Id) -> Result<bool, LoadError> {
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        Ok(matches!(found, None | Some(Found::Missing(_))))
    }

    /// Replays a history, and compares it with the row.
    pub(super) fn replay<M: Restore>(
        &self,
        found: Found,
        history: History,
        definitions: &[Arc<Definition>],
    ) -> Result<(), LoadError> {
        let (row, head) = match &found {
            Found::Row(row, head) => (row, *head),
            Found::Missing(id) => return Err(LoadError::NotFound { id: *id }),
            Found::Broken(broken) => return Err(broken.clone().into()),
        };
        let claim = self.claim(row, head, history, definitions)?;
        let id = row.id;
        let (verified, newest) = replay(M::DEFINITION, &claim, &self.inner.key)?;
        compare_heads(id, head, newest)?;
        drop(verified);
        let machine: M = self.restore(found, definitions)?;
        let stored = &machine.journal().stored().summary;
        let (summary, _) = fold(machine.__rules(), &Summary::NEW, &claim.journal)
            .map_err(|breach| VerifyError::Rules { id, breach })?;
        // A summary of another format is folded again when the machine is loaded.
        if stored.format == summary.format && *stored != summary {
            let reason = "its summary does not match its journal".to_owned();
            return Err(history_error(id, reason));
        }
        Ok(())
    }

    /// Replays a history of a machine whose type the program does not know.
    fn replay_as_data(
        &self,
        found: &Found,
        history: History,
        definitions: &[Arc<Definition>],
    ) -> Result<(), LoadError> {
        let Found::Row(row, head) = found else { return Ok(()) };
        let id = row.id;
        let claim = self.claim(row, *head, history, definitions)?;
        let newest =
            walk_as_data(&claim, &self.inner.key).map_err(|reason| history_error(id, reason))?;
        compare_heads(id, *head, newest)?;
        let mut summary = Summary::NEW;
        claim.journal.iter().for_each(|entry| summary.add(entry));
        let mut stored: Summary = serde_json::from_str(&row.summary)
            .map_err(|error| history_error(id, format!("its summary cannot be read: {error}")))?;
        (stored.created_at, stored.updated_at) = (row.created_at, row.updated_at);
        // The part of the context needs the program's own rules.
        (summary.format, summary.context) = (stored.format, stored.context.clone());
        if stored != summary {
            return Err(history_error(id, "its summary does not match its journal".to_owned()));
        }
        Ok(())
    }

    fn claim(
        &self,
        row: &Row,
        head: Option<Digest>,
        history: History,
        definitions: &[Arc<Definition>],
    ) -> Result<Unverified, LoadError> {
        let (context, _) = self.intact(row, head)?;
        let journal = history.entries;
        if journal.len() as u64 != row.version {
            let reason = format!("entry {} of its journal is missing", journal.len());
            return Err(history_error(row.id, reason));
        }
        let record = Record {
            id: row.id,
            machine: row.machine.clone(),
            fingerprint: row.definition,
            status: row.status.clone(),
            state: row.state.clone(),
            context: context.to_string(),
            epoch: row.epoch,
            // The seal of the row was checked above.
            seal: Digest::ZERO,
        };
        Ok(Unverified { record, journal, definitions: definitions.to_vec() })
    }
}

fn compare_heads(id: Id, head: Option<Digest>, newest: Digest) -> Result<(), LoadError> {
    if head == Some(newest) {
        return Ok(());
    }
    Err(history_error(id, "its journal has more entries than its row says".to_owned()))
}

fn history_error(id: Id, reason: String) -> LoadError {
    history(id, reason).into()
}
