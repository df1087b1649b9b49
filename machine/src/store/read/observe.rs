//! The store's interface for views: machines of any kind, whose types the program may not know.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    clock::Millis,
    contract::{
        AnyExecution,
        execution::{self, Status},
    },
    definition::Definition,
    id::Id,
    journal::{Digest, Summary},
    store::{
        backend::{Attempts, Found, Messages, Row},
        error::LoadError,
        handle::Store,
        inbox::message::{Delivery, Received},
        read::{
            load::history,
            query::{Page, Query},
        },
        write::attempt::CONTRACTS,
    },
    stored::{History, Hold, Newest, Part, VerifyError},
    view::{marks::Marks, subject::Subject},
};

/// A stored machine of any kind, checked as `load` checks it.
#[derive(Debug)]
pub(crate) struct Observed {
    row: Row,
    head: Digest,
    pub(crate) definition: Arc<Definition>,
    /// The newest definition of its kind.
    newest: Arc<Definition>,
    state: usize,
    data: Value,
    context: Value,
    summary: Summary,
}

impl Observed {
    /// The state, as an index into the definition, and its label.
    pub(crate) fn state(&self) -> (usize, &str) {
        (self.state, &self.definition.states[self.state].label)
    }

    /// The newest definition of its kind.
    pub(crate) fn newest(&self) -> &Definition {
        &self.newest
    }

    /// The number of its transitions.
    pub(crate) fn transitions(&self) -> u64 {
        self.summary.transitions
    }

    /// When its next deadline is due.
    pub(crate) fn due_at(&self) -> Option<Millis> {
        self.summary.due_at()
    }

    /// Returns `true` if a message was for a state that the machine has left.
    pub(crate) fn has_moved_since(&self, message: &Received) -> bool {
        message.seen.is_some_and(|seen| seen != self.transitions())
    }

    /// Returns `true` if its state may last, and can be left.
    pub(crate) fn waits(&self) -> bool {
        self.definition.states[self.state].stable && !self.has_ended()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.definition.states[self.state].terminal
    }

    /// `own` are definitions of the program, whose marks count, too.
    pub(crate) fn subject<'a>(&'a self, own: &[&'a Definition]) -> Subject<'a> {
        let own = own.iter().copied().find(|own| own.name == self.definition.name);
        Subject {
            id: self.row.id,
            definition: &self.definition,
            marks: Marks::of(&self.newest).and(own),
            state: self.state,
            data: self.data.clone(),
            context: self.context.clone(),
            summary: self.summary.clone(),
            session: self.row.session.clone(),
            epoch: self.row.epoch,
            version: self.row.version,
        }
    }
}

impl Store {
    /// A machine of any kind.
    pub(crate) async fn observed_one(&self, id: Id) -> Result<Observed, LoadError> {
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        let found = found.unwrap_or(Found::Missing(id));
        let definitions = self.definitions().await?;
        self.observed(found, &definitions)
    }

    /// Like [`observed_one`](Self::observed_one), with a distinct error for a machine that was pruned.
    /// Only machines that attempted a keyed action are known after pruning.
    pub(crate) async fn observed_or_pruned(&self, id: Id) -> Result<Observed, LoadError> {
        let found = self.observed_one(id).await;
        if !matches!(found, Err(LoadError::NotFound { .. })) {
            return found;
        }
        let attempts = self.inner.backend.attempts(Attempts::All).await?;
        match attempts.into_iter().flatten().find(|attempt| attempt.by == id) {
            Some(attempt) => Err(LoadError::Pruned { id, applied: attempt.hold == Hold::Applied }),
            None => found,
        }
    }

    /// The history of a machine of any kind with its newest state, unless its row cannot be read.
    pub(crate) async fn observed_history(&self, id: Id) -> Result<History, LoadError> {
        let mut history = self.history(id).await?;
        loop {
            let observed = match self.observed_one(id).await {
                Ok(observed) => observed,
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                // Its history can be read all the same.
                Err(_) => return Ok(history),
            };
            let length = history.entries.len() as u64;
            if observed.row.version <= length {
                if observed.row.version == length {
                    let Observed { definition, state, data, .. } = observed;
                    history.newest = Some(Newest { definition, state, data });
                }
                return Ok(history);
            }
            // It moved in between. If its journal has no more entries now, they were removed.
            history = self.history(id).await?;
            if history.entries.len() as u64 == length {
                return Ok(history);
            }
        }
    }

    /// The first message that answers what a machine waits for now, if it is in the inbox and a worker has
    /// not looked at it yet. One that a worker has looked at did not fit, and does not prevent an answer.
    pub(crate) async fn queued_answer(
        &self,
        machine: &Observed,
    ) -> Result<Option<Received>, LoadError> {
        if !machine.waits() {
            return Ok(None);
        }
        let id = machine.row.id;
        let (_, _, queued) = self.inner.backend.task(id).await?;
        for queued in queued.into_iter().filter(|queued| queued.fault.is_none()) {
            let found = self.inner.backend.messages(Messages::One(id, queued.correlation)).await?;
            let answers = |message: &Received| {
                message.status == Delivery::Queued && message.seen == Some(machine.transitions())
            };
            if let Some(answer) = found.into_iter().flatten().find(answers) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// The machines on a page of a query.
    pub(crate) async fn observed_page(
        &self,
        query: &Query,
    ) -> Result<Page<Result<Observed, LoadError>>, LoadError> {
        let (rows, next) = self.rows(query, true).await?;
        let definitions = self.definitions().await?;
        let items = rows.into_iter().map(|(_, found)| self.observed(found, &definitions));
        Ok(Page { items: items.collect(), next })
    }

    /// Restores an observed machine as an execution.
    pub(crate) async fn execution_of(&self, observed: Observed) -> Result<AnyExecution, LoadError> {
        let Observed { row, head, definition, .. } = observed;
        let found = Found::Row(row, Some(head));
        self.current(self.restore_safely(found, &[definition])?).await
    }

    /// The executions with these ids.
    pub(crate) async fn executions(
        &self,
        ids: Vec<Id>,
    ) -> Result<Vec<Result<AnyExecution, LoadError>>, LoadError> {
        let rows = self.inner.backend.rows(ids).await?;
        let rows: Vec<_> = rows.into_iter().map(|found| (0, found)).collect();
        self.restore_all(rows, |execution| execution).await
    }

    /// The ids of all machines, in the order in which they were created. Rows without one are left out.
    pub(crate) async fn ids(&self) -> Result<Vec<Id>, LoadError> {
        let mut ids = Vec::new();
        let mut query = Query::new().limit(10_000);
        loop {
            let (rows, next) = self.rows(&query, false).await?;
            ids.extend(rows.into_iter().filter_map(|(_, found)| match found {
                Found::Row(row, _) => Some(row.id),
                Found::Missing(id) => Some(id),
                Found::Broken(broken) => broken.id,
            }));
            match next {
                Some(next) => query = query.after(next),
                None => return Ok(ids),
            }
        }
    }

    /// Every stored definition, oldest first.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn definitions(&self) -> Result<Vec<Arc<Definition>>, LoadError> {
        Ok(self.inner.backend.definitions().await?.intact)
    }

    /// The problems of the stored definitions that cannot be read.
    pub(crate) async fn broken_definitions(&self) -> Result<Vec<String>, LoadError> {
        Ok(self.inner.backend.definitions().await?.broken)
    }

    pub(crate) fn observed(
        &self,
        found: Found,
        definitions: &[Arc<Definition>],
    ) -> Result<Observed, LoadError> {
        let (row, head) = match found {
            Found::Row(row, head) => (row, head),
            Found::Missing(id) => return Err(LoadError::NotFound { id }),
            Found::Broken(broken) => return Err(broken.into()),
        };
        let id = row.id;
        let (context, head) = self.intact(&row, head)?;
        let mut written = definitions.iter();
        let definition = written
            .find(|known| known.fingerprint == row.definition)
            .ok_or_else(|| history(id, "its definition is missing in the file".to_owned()))?;
        let state = definition
            .state(&row.status)
            .ok_or_else(|| history(id, format!("its definition has no state `{}`", row.status)))?;
        let newest = definitions.iter().rfind(|known| known.name == definition.name);
        let value = |part, text: &str| {
            serde_json::from_str(text).map_err(|source| VerifyError::Data { id, part, source })
        };
        let (data, context) = (value(Part::State, &row.state)?, value(Part::Context, &context)?);
        let mut summary: Summary = serde_json::from_str(&row.summary)
            .map_err(|error| history(id, format!("its summary cannot be read: {error}")))?;
        (summary.created_at, summary.updated_at) = (row.created_at, row.updated_at);
        let newest = Arc::clone(newest.unwrap_or(definition));
        let definition = Arc::clone(definition);
        Ok(Observed { row, head, definition, newest, state, data, context, summary })
    }
}

impl Store {
    /// The executions that may be in doubt, contradicted or overdue, with the time until which a call
    /// that is in flight may run.
    pub(crate) async fn suspects(&self) -> Result<BTreeMap<Id, Option<Millis>>, LoadError> {
        let mut suspects = BTreeMap::new();
        let mut applied = BTreeSet::new();
        for attempt in self.inner.backend.attempts(Attempts::All).await?.into_iter().flatten() {
            if attempt.space != CONTRACTS {
                continue;
            }
            if attempt.worker.is_some() {
                suspects.insert(attempt.by, attempt.expires_at);
            }
            if attempt.hold == Hold::Applied {
                applied.insert(attempt.by);
            }
        }
        // Actions that took effect although their execution ended otherwise.
        for status in [Status::Failed, Status::Rejected, Status::Cancelled] {
            let kind = execution::DEFINITION.name.as_ref();
            let mut query = Query::new().machine(kind).status(status.as_str()).limit(1000);
            loop {
                let page = self.list(&query).await?;
                let ended = page.items.into_iter().flatten().map(|line| line.id);
                suspects.extend(ended.filter(|id| applied.contains(id)).map(|id| (id, None)));
                match page.next {
                    Some(next) => query = query.after(next),
                    None => break,
                }
            }
        }
        Ok(suspects)
    }
}
