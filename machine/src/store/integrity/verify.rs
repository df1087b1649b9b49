use crate::{
    contract::AnyExecution,
    id::Id,
    store::{
        backend::{Found, Messages},
        error::LoadError,
        handle::Store,
        integrity::check::Named,
        read::query::Query,
    },
    stored::Restore,
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
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

/// Something in a store is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The machine, if it can be told.
    pub id: Option<Id>,
    /// A description of the problem.
    pub reason: String,
}

/// The progress of [`Store::verify_all`].
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
    /// Returns `true` if everything is as it was written.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn add(&mut self, id: Option<Id>, reason: impl Into<String>) {
        self.problems.push(Problem { id, reason: reason.into() });
    }
}

impl Store {
    /// Verifies the whole history of a machine: replays its journal along the definitions that it was
    /// written under, folds it again, and compares the result with what [`load`](Self::load) trusts. However
    /// long the history is, a part of it is in memory at a time.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load), with the first problem.
    pub async fn verify<M: Restore>(&self, id: Id) -> Result<(), LoadError> {
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        let found = found.unwrap_or(Found::Missing(id));
        match self.replay(found, Some(&Named::of::<M>())).await {
            // It may have been pruned in between.
            Err(LoadError::Unreadable(_)) if self.is_gone(id).await? => {
                Err(LoadError::NotFound { id })
            }
            verified => verified,
        }
    }

    /// Verifies everything in the store: each machine as [`verify`](Self::verify) does, the definitions,
    /// the chain over the whole journal, the attempts at each key, the messages, the operator log, and the
    /// triggers and indexes of a file. Machines of a
    /// kind that the program has not declared with [`OpenOptions::machine`](crate::store::OpenOptions::machine) are
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
        let mut named = self.inner.declared.machines.clone();
        named.push(Named::of::<AnyExecution>());
        for reason in self.inner.backend.definitions().await?.broken {
            report.add(None, reason);
        }
        for reason in self.inner.backend.schema().await? {
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
    pub(crate) async fn verify_machine(&self, id: Id) -> Result<Report, LoadError> {
        let mut named = self.inner.declared.machines.clone();
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
    pub(crate) async fn verify_row(
        &self,
        found: Found,
        named: &[Named],
        report: &mut Report,
    ) -> Result<u64, LoadError> {
        let (id, version, key, kind) = match &found {
            Found::Row(row, _) => {
                let kind = named.iter().find(|kind| kind.definition.name == *row.machine);
                (row.id, row.version, row.key.clone(), kind)
            }
            Found::Missing(id) => {
                report.add(Some(*id), "it disappeared");
                return Ok(0);
            }
            Found::Broken(broken) => {
                report.add(broken.id, broken.reason.clone());
                return Ok(0);
            }
        };
        match self.replay(found, kind).await {
            Ok(()) => {}
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // It was pruned in between. If it was removed by an edit, the chain shows that.
            Err(_) if self.is_gone(id).await? => return Ok(version),
            Err(error) => report.add(Some(id), error.to_string()),
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

    /// Returns `true` if there is no machine with this id any more.
    async fn is_gone(&self, id: Id) -> Result<bool, LoadError> {
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        Ok(matches!(found, None | Some(Found::Missing(_))))
    }
}
