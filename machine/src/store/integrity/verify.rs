use serde::Serialize;

use crate::{
    id::Id,
    store::{
        backend::{FoundRow, Messages, Records, Schedules},
        error::LoadError,
        handle::Store,
        integrity::check::DeclaredKind,
        read::query::Query,
    },
};

/// The result of [`Store::verify_all`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// The number of machines.
    pub machines: u64,
    /// The number of journal entries.
    pub entries: u64,
    /// The number of pruned journal entries. Only the chain over these is verified.
    pub pruned: u64,
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

/// A part of a store that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The machine, if known.
    pub id: Option<Id>,
    /// A description of the problem.
    pub reason: String,
}

/// The progress of [`Store::verify_all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyProgress {
    /// The number of machines that were verified.
    pub machines: u64,
    /// The number of journal entries that were read, of all machines.
    pub entries: u64,
    /// The number of journal entries in the store.
    pub total_entries: u64,
}

impl VerifyReport {
    /// Returns `true` if there are no problems.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn add(&mut self, id: Option<Id>, reason: impl Into<String>) {
        self.problems.push(Problem { id, reason: reason.into() });
    }
}

/// Verifies the machines of a store. Those of these kinds are folded by their rules.
pub(crate) struct Verifier<'a> {
    pub(crate) store: &'a Store,
    pub(crate) kinds: Vec<DeclaredKind>,
}

impl Verifier<'_> {
    /// Verifies the history of a machine of this kind.
    pub(crate) async fn history(&self, kind: &DeclaredKind, id: Id) -> Result<(), LoadError> {
        let found = self.store.found(id).await?;
        match self.store.replay(found, Some(kind), &self.kinds).await {
            // It may have been pruned in between.
            Err(LoadError::Unreadable(_)) if self.is_gone(id).await? => {
                Err(LoadError::NotFound { id })
            }
            verified => verified,
        }
    }

    pub(crate) async fn everything(
        &self,
        progress: impl FnMut(VerifyProgress),
    ) -> Result<VerifyReport, LoadError> {
        let mut report = VerifyReport::default();
        for reason in self.store.inner.backend.schema().await? {
            report.add(None, reason);
        }
        let is_whole = report.is_clean();
        match self.content(progress, &mut report).await {
            // Reads of a damaged file fail. The report says where it is damaged.
            Err(LoadError::Unavailable(error)) if !is_whole => {
                report.add(None, format!("the rest was not verified: {error}"));
            }
            verified => verified?,
        }
        Ok(report)
    }

    /// Verifies what is stored in the file, apart from its structure.
    async fn content(
        &self,
        mut progress: impl FnMut(VerifyProgress),
        report: &mut VerifyReport,
    ) -> Result<(), LoadError> {
        let store = self.store;
        for reason in store.inner.backend.definitions().await?.broken {
            report.add(None, reason);
        }
        let total_entries = store.inner.backend.newest().await?;
        let mut of_machines = 0;
        let mut next = Some(Query::new());
        while let Some(rows) = store.next_rows(&mut next, true).await? {
            for (_, found) in rows {
                report.machines += 1;
                of_machines += self.row(found, report).await?;
                let machines = report.machines;
                progress(VerifyProgress { machines, entries: of_machines, total_entries });
            }
        }
        let opened = store.verify_chain(report).await?;
        store.verify_attempts(opened, report).await?;
        store.verify_operations(report).await?;
        for broken in
            store.inner.backend.records(Records::Broken).await?.into_iter().filter_map(Result::err)
        {
            report.add(broken.id, broken.reason);
        }
        for (id, work) in store.inner.backend.schedules(Schedules::Miscounted).await? {
            let reason = format!(
                "its inbox does not have {} queued messages, as its work says",
                work.queued
            );
            report.add(Some(id), reason);
        }
        for message in store.inner.backend.messages(Messages::All).await? {
            match message {
                Ok(message) => store.verify_outcome(&message, report).await?,
                Err(broken) => report.add(broken.id, broken.reason),
            }
        }
        Ok(())
    }

    /// Verifies one machine of any kind, as [`everything`](Self::everything) does.
    pub(crate) async fn machine(&self, id: Id) -> Result<VerifyReport, LoadError> {
        let found = self.store.found(id).await?;
        if let FoundRow::Missing(id) = found {
            return Err(LoadError::NotFound { id });
        }
        let mut report = VerifyReport { machines: 1, ..VerifyReport::default() };
        report.entries = self.row(found, &mut report).await?;
        Ok(report)
    }

    /// Verifies one machine; returns the number of its entries.
    pub(in crate::store) async fn row(
        &self,
        found: FoundRow,
        report: &mut VerifyReport,
    ) -> Result<u64, LoadError> {
        let (id, version, key, kind) = match &found {
            FoundRow::Row(row, _) => {
                let kind = self.kinds.iter().find(|kind| kind.definition.name == *row.machine);
                (row.id, row.version, row.key.clone(), kind)
            }
            FoundRow::Missing(id) => {
                report.add(Some(*id), "it disappeared");
                return Ok(0);
            }
            FoundRow::Broken(broken) => {
                report.add(broken.id, broken.reason.clone());
                return Ok(0);
            }
        };
        match self.store.replay(found, kind, &self.kinds).await {
            Ok(()) => {}
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // It was pruned in between. If it was removed by an edit, the chain shows that.
            Err(_) if self.is_gone(id).await? => return Ok(version),
            Err(error) => report.add(Some(id), error.to_string()),
        }
        if let (Some(kind), Some(key)) = (kind, key)
            && let Some(reason) = self.store.differing_attempt(kind, id, &key).await?
        {
            report.add(Some(id), reason);
        }
        for child in self.store.inner.backend.children(id).await? {
            if let Err(broken) = child {
                report.add(broken.id, broken.reason);
            }
        }
        Ok(version)
    }

    async fn is_gone(&self, id: Id) -> Result<bool, LoadError> {
        Ok(matches!(self.store.found(id).await?, FoundRow::Missing(_)))
    }
}
