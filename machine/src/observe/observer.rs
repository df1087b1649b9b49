use std::sync::Arc;

use super::{Consequences, Overview, calls::CallsOf};
use crate::view::{
    Audience, ConsequenceView, ExecutionSnapshot, Language, Snapshot, Timeline, Topology, View,
    marks::Marks, prompt::needs_attention, subject::Subject, timeline::Part,
};
use crate::{
    contract::{AnyExecution, Progress, execution},
    definition::Definition,
    id::Id,
    store::{
        LoadError, Page, Query, Store,
        read::{history::HistoryPart, observe::Observed},
    },
    stored::Restore,
};

/// The views of stored machines. It keeps nothing, and changes nothing; a view of a stored
/// machine equals that of the same machine in memory.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::store::Store;
/// use machine::{view::Human, observe::Observer};
///
/// # pollster::block_on(async {
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?
///     .session("notes");
/// let mut done = Execution::new(contract)
///     .start(&actors.tool_node)
///     .succeed("12 lines".to_owned(), &actors.tool_node);
/// let store = Store::memory();
/// store.create(&mut done).await?;
///
/// let observer = Observer::new(&store);
/// let snapshot = observer.snapshot::<Human>(done.id()).await?;
/// assert_eq!(snapshot.label, "COMPLETED");
/// let notes = observer.consequences("notes").await?;
/// assert!(notes.prompt().to_string().contains("[SUCCESS] files.read: 12 lines"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Observer {
    pub(crate) store: Store,
    pub(crate) language: Language,
    pub(crate) own: Vec<&'static Definition>,
}

impl Observer {
    /// The views of a store, in English.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), language: Language::English, own: Vec::new() }
    }

    /// With summaries, questions, results and reasons in this language; all other texts are
    /// English.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Declares a kind of machine that the program has. The marks of the newest definition in the
    /// store decide who may see what, and a definition gets there with the first machine that is
    /// written under it. A program that only reads declares its machines, so that its stricter
    /// marks count from the start; marks that are less strict count once they are in the store.
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.own.push(M::DEFINITION);
        self
    }

    /// A machine of any kind.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`].
    pub async fn snapshot<A: Audience>(&self, id: Id) -> Result<View<Snapshot<A>>, LoadError> {
        let observed = self.store.observed_one(id).await?;
        Ok(View::new(Snapshot::of_subject(&observed.subject(&self.own), self.store.now())))
    }

    /// A page of the machines that a query selects. One that cannot be read is listed as an error.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn list<A: Audience>(
        &self,
        query: &Query,
    ) -> Result<Page<Result<View<Overview<A>>, LoadError>>, LoadError> {
        let now = self.store.now();
        let (rows, next) = self.store.rows(query, true).await?;
        let definitions = self.store.definitions().await?;
        let found = rows.into_iter().map(|(_, found)| self.store.observed(found, &definitions));
        let found: Vec<_> = found.collect();
        let machines: Vec<_> = found.iter().flatten().map(CallsOf::observed).collect();
        let mut calls = self.state_calls(&machines).await?;
        let mut items = Vec::with_capacity(found.len());
        for observed in found {
            items.push(match observed {
                Ok(observed) if observed.definition.name == execution::DEFINITION.name => {
                    let execution = self.store.execution_of(observed).await;
                    execution.map(|execution| Overview::of(&execution, self.language))
                }
                Ok(observed) => {
                    let calls = calls.remove(&observed.row.id);
                    let subject = observed.subject(&self.own);
                    Ok(View::new(Overview::of_subject(&subject, calls, now)))
                }
                Err(error) => Err(error),
            });
        }
        Ok(Page { items, next })
    }

    /// An execution.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`].
    pub async fn execution<A: Audience>(
        &self,
        id: Id,
    ) -> Result<View<ExecutionSnapshot<A>>, LoadError> {
        let execution: AnyExecution = self.store.load(id).await?;
        Ok(ExecutionSnapshot::of(&execution, self.store.now(), self.language))
    }

    /// The executions of a session, for a reasoner.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn consequences(&self, session: &str) -> Result<View<Consequences>, LoadError> {
        let (executions, in_doubt, unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = Consequences { executions, in_doubt, unreadable };
        let mut next = Some(Query::new().session(session).limit(1000));
        while let Some(query) = next {
            let page = self.store.load_all::<AnyExecution>(&query).await?;
            for execution in page.items {
                match execution {
                    Ok(execution) => {
                        let view = ConsequenceView::in_language(&execution, self.language);
                        found.executions.push(view);
                        if Progress::of(&execution).is_in_doubt() {
                            found.in_doubt.extend(execution.context().action().shown_call());
                        }
                    }
                    Err(error) => found.unreadable.push(error),
                }
            }
            next = page.next.map(|next| query.after(next));
        }
        found.executions.sort_by_key(|view| !needs_attention(view));
        Ok(View::new(found))
    }

    /// The history of a machine of any kind.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::history`].
    pub async fn timeline<A: Audience>(&self, id: Id) -> Result<View<Timeline<A>>, LoadError> {
        self.timeline_part(id, 0, usize::MAX).await
    }

    /// A part of it: at most `limit` entries from this number on. However long the history is, only
    /// these and up to 100 before them are read; of data that were set earlier, only the names are
    /// known.
    ///
    /// Checks that no entry of it was changed or removed; a part with the newest entry is checked
    /// against the row of the machine. What was removed or changed before a part is found by the
    /// part that has it, by [`timeline`](Self::timeline), and by [`verify`](Self::verify). If the
    /// row cannot be read, as after the newest entry was removed, the timeline has the other
    /// entries and a [`problem`](Timeline::problem).
    ///
    /// # Errors
    ///
    /// The errors of [`Store::history`].
    pub async fn timeline_part<A: Audience>(
        &self,
        id: Id,
        from: u64,
        limit: usize,
    ) -> Result<View<Timeline<A>>, LoadError> {
        let found = self.store.history_part(id, from, limit).await?;
        let HistoryPart { history, kind, from, transitions, total } = found;
        let transitions = usize::try_from(transitions).unwrap_or(usize::MAX);
        let written = history.entries.last().and_then(|entry| history.definition(entry));
        let (newest, error) = match (kind, written) {
            (Ok(kind), _) => (Some(kind), None),
            (Err(error), Some(written)) => {
                (self.newest(&written.name).await?, Some(error.to_string()))
            }
            (Err(error), None) => (None, Some(error.to_string())),
        };
        let calls = match history.newest.as_ref() {
            Some(newest) => self.state_calls(&[CallsOf::newest(id, newest)]).await?.remove(&id),
            None => None,
        };
        let part = Part { from, transitions, total, calls, error };
        let newest = newest.as_deref().or(written);
        let own = newest.and_then(|of| self.own.iter().copied().find(|own| own.name == of.name));
        let marks = newest.map(|newest| Marks::of(newest).and(own));
        Ok(Timeline::project(&history, part, marks))
    }

    /// The states and moves of a kind of machine that was stored, or that a worker has driven,
    /// under its newest definition; `None` if there was none.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn topology(&self, machine: &str) -> Result<Option<View<Topology>>, LoadError> {
        Ok(self.newest(machine).await?.map(|definition| Topology::of(&definition)))
    }

    async fn newest(&self, machine: &str) -> Result<Option<Arc<Definition>>, LoadError> {
        let definitions = self.store.definitions().await?;
        Ok(definitions.iter().rfind(|known| known.name == machine).cloned())
    }
}

impl Observed {
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
