use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, Fixed, Journal, StoredState, Summary},
    store::{
        backend::{Broken, FoundRow, Row},
        error::LoadError,
        handle::Store,
        write::seal::seal,
    },
    stored::{
        KnownDefinitions, Restore, StoredPart, Verified, VerifyError, check_id, check_machine,
        fold, successor,
    },
};

impl Store {
    /// Loads a machine in any state. However long its history is, this reads only its row and the
    /// digest of its newest journal entry, and checks that the row matches that entry;
    /// [`verify`](Self::verify) checks the whole history.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] if no machine has this id, [`LoadError::Unreadable`] if it is of
    /// another kind, fails verification, or is incompatible with this program.
    pub async fn load<M: Restore>(&self, id: Id) -> Result<M, LoadError> {
        let found = self.found(id).await?;
        let definitions = self.definition_of(&found).await?;
        self.current(self.restore(found, &definitions)?).await
    }

    /// Stored definitions, with these among them.
    pub(super) async fn definitions_with(
        &self,
        wanted: &[Fingerprint],
    ) -> Result<Arc<Vec<Arc<Definition>>>, LoadError> {
        Ok(self.inner.definitions.with(&*self.inner.backend, wanted).await?)
    }

    /// The definitions that some rows were written under.
    pub(crate) async fn definitions_of(
        &self,
        rows: &[(u64, FoundRow)],
    ) -> Result<Arc<Vec<Arc<Definition>>>, LoadError> {
        let wanted = rows.iter().filter_map(|(_, found)| found.definition());
        self.definitions_with(&wanted.collect::<Vec<_>>()).await
    }

    /// The definition that a row was written under, among others.
    pub(crate) async fn definition_of(
        &self,
        found: &FoundRow,
    ) -> Result<Arc<Vec<Arc<Definition>>>, LoadError> {
        self.definitions_with(found.definition().as_slice()).await
    }

    /// Makes a machine from a row. If the user's code panics, that concerns this machine only.
    pub(crate) fn restore_safely<M: Restore>(
        &self,
        found: FoundRow,
        definitions: &[Arc<Definition>],
    ) -> Result<M, LoadError> {
        let Some(id) = found.id() else { return self.restore(found, definitions) };
        catch_unwind(AssertUnwindSafe(|| self.restore(found, definitions))).unwrap_or_else(|_| {
            let reason = "reading it panicked; check its `Deserialize` and its upgrade functions";
            Err(history(id, reason.to_owned()).into())
        })
    }

    /// Makes a machine from a row, if the row is as it was written.
    pub(crate) fn restore<M: Restore>(
        &self,
        found: FoundRow,
        definitions: &[Arc<Definition>],
    ) -> Result<M, LoadError> {
        let own = M::DEFINITION;
        let (row, head) = found.row()?;
        let id = row.id;
        check_machine(own, id, &row.machine)?;
        let (context, head) = self.intact(&row, head)?;
        let known = KnownDefinitions { own, older: definitions };
        let Some(written) = known.get(row.definition) else {
            let (machine, found) = (own.name(), row.definition);
            return Err(VerifyError::UnknownDefinition { id, machine, found }.into());
        };
        let Some(state) = written.state(&row.status) else {
            return Err(history(id, format!("its definition has no state `{}`", row.status)).into());
        };
        if written.states[state].terminal != row.ended {
            let says = if row.ended { "has ended" } else { "has not ended" };
            let reason = format!("its row says that it {says}, but its state says otherwise");
            return Err(history(id, reason).into());
        }
        let (state, version) = successor(own, &known, id, row.definition, state)?;
        let summary = summary_of(&row)?;
        let stored = StoredState {
            version: row.version,
            epoch: row.epoch,
            head,
            summary,
            store: Some(self.inner.identity.store),
            context: version == own.version,
            commit_id: None,
            fixed: Some(Arc::new(Fixed { session: row.session, key: row.key, behind: row.behind })),
            gate: row.gate,
        };
        let journal = Journal::of_stored(id, own.fingerprint, stored);
        let verified =
            Verified { journal, state, version, state_text: row.state, context_text: context };
        let machine = M::__restore(verified).map_err(|unread| unread.of(id))?;
        check_id(id, &machine)?;
        Ok(machine)
    }

    /// The context of a row and the digest of its newest journal entry, if both are as the seal
    /// says.
    pub(super) fn intact(
        &self,
        row: &Row,
        head: Option<Digest>,
    ) -> Result<(Arc<str>, Digest), VerifyError> {
        let id = row.id;
        let head = head.ok_or_else(|| match row.version.checked_sub(1) {
            Some(newest) => history(id, format!("entry {newest} of its journal is missing")),
            None => history(id, "its row says that it has no journal".to_owned()),
        })?;
        let context = row.context.clone();
        let context = context.ok_or_else(|| history(id, "its context is missing".to_owned()))?;
        if row.seal != seal(&self.inner.key, self.inner.identity.store, row, &context, &head) {
            let reason = "its row or its newest journal entry was changed: the seal does not match";
            return Err(history(id, reason.to_owned()));
        }
        Ok((context, head))
    }

    /// The machine with a summary in the format of this program: one of another format is folded
    /// again from the whole journal.
    pub(crate) async fn current<M: Restore>(&self, mut machine: M) -> Result<M, LoadError> {
        if is_current(&machine) {
            return Ok(machine);
        }
        let stored = machine.journal().stored();
        let id = machine.journal().id();
        let history = self.history(id).await?;
        let (summary, _) = fold(machine.__rules(), &Summary::NEW, &history.entries, true)
            .map_err(|breach| VerifyError::Rules { id, breach })?;
        let stored = StoredState { summary, ..stored.clone() };
        machine.__journal_mut(crate::journal::Pass::new()).mark_stored(stored);
        Ok(machine)
    }
}

/// Returns `true` if the summary has the format of this program.
pub(crate) fn is_current<M: Restore>(machine: &M) -> bool {
    machine.journal().stored().summary.format == machine.__rules().__format()
}

pub(crate) fn history(id: Id, reason: String) -> VerifyError {
    VerifyError::History { id, reason }
}

/// The summary of a machine. Its times are columns of the row.
pub(crate) fn summary_of(row: &Row) -> Result<Summary, VerifyError> {
    let summary: Summary = serde_json::from_str(&row.summary)
        .map_err(|error| history(row.id, format!("its summary cannot be read: {error}")))?;
    Ok(Summary { created_at: row.created_at, updated_at: row.updated_at, ..summary })
}

/// A part of the data of a machine, as JSON.
pub(crate) fn value_of(
    id: Id,
    part: StoredPart,
    text: &str,
) -> Result<serde_json::Value, VerifyError> {
    serde_json::from_str(text).map_err(|source| VerifyError::Data { id, part, source })
}

impl FoundRow {
    pub(crate) fn row(self) -> Result<(Row, Option<Digest>), LoadError> {
        match self {
            Self::Row(row, head) => Ok((row, head)),
            Self::Missing(id) => Err(LoadError::NotFound { id }),
            Self::Broken(broken) => Err(broken.into()),
        }
    }
}

impl From<Broken> for LoadError {
    fn from(broken: Broken) -> Self {
        match broken.id {
            Some(id) => history(id, broken.reason).into(),
            None => Self::BrokenRow { reason: broken.reason },
        }
    }
}
