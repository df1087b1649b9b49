use std::sync::Arc;

use super::{
    Audience, ConsequenceView, Consequences, ExecutionSnapshot, Language, Overview, Snapshot,
    Timeline, Topology, marks::Marks, prompt::needs_attention,
};
use crate::{
    contract::{AnyExecution, execution},
    definition::Definition,
    id::Id,
    store::{LoadError, Page, Query, Store},
    stored::Restore,
};

/// The views of stored machines. It keeps nothing, and changes nothing; a view of a stored
/// machine equals that of the same machine in memory.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::store::Store;
/// use machine::view::{Human, Observer};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
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
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Observer {
    pub(crate) store: Store,
    pub(crate) language: Language,
    pub(crate) own: Vec<&'static Definition>,
}

impl Observer {
    /// The views of a store, with texts in English.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone(), language: Language::English, own: Vec::new() }
    }

    /// With texts in this language.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Declares a kind of machine that the program has. The marks of the newest definition in the store
    /// decide who may see what, and a definition gets there with the first machine that is written
    /// under it. A program that only reads declares its machines, so that its stricter marks count from
    /// the start; marks that are less strict count once they are in the store.
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
    pub async fn snapshot<A: Audience>(&self, id: Id) -> Result<Snapshot<A>, LoadError> {
        let observed = self.store.observed_one(id).await?;
        Ok(Snapshot::of_subject(&observed.subject(&self.own), self.store.now()))
    }

    /// A page of the machines that a query selects. One that cannot be read is listed as an error.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn list<A: Audience>(
        &self,
        query: &Query,
    ) -> Result<Page<Result<Overview<A>, LoadError>>, LoadError> {
        let now = self.store.now();
        let page = self.store.observed_page(query).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for observed in page.items {
            items.push(match observed {
                Ok(observed) if observed.definition.name == execution::DEFINITION.name => {
                    let execution = self.store.execution_of(observed).await;
                    execution.map(|execution| Overview::of(&execution, self.language))
                }
                Ok(observed) => Ok(Overview::of_subject(&observed.subject(&self.own), now)),
                Err(error) => Err(error),
            });
        }
        Ok(Page { items, next: page.next })
    }

    /// An execution.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`].
    pub async fn execution<A: Audience>(&self, id: Id) -> Result<ExecutionSnapshot<A>, LoadError> {
        let execution: AnyExecution = self.store.load(id).await?;
        Ok(ExecutionSnapshot::in_language(&execution, self.store.now(), self.language))
    }

    /// An execution, for a reasoner.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::load`].
    pub async fn consequence_view(&self, id: Id) -> Result<ConsequenceView, LoadError> {
        let execution: AnyExecution = self.store.load(id).await?;
        Ok(ConsequenceView::in_language(&execution, self.language))
    }

    /// The executions of a session, for a reasoner.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn consequences(&self, session: &str) -> Result<Consequences, LoadError> {
        let mut found = Consequences { executions: Vec::new(), unreadable: Vec::new() };
        let mut query = Query::new().session(session).limit(1000);
        loop {
            let page = self.store.load_all::<AnyExecution>(&query).await?;
            for execution in page.items {
                match execution {
                    Ok(execution) => {
                        let view = ConsequenceView::in_language(&execution, self.language);
                        found.executions.push(view);
                    }
                    Err(error) => found.unreadable.push(error),
                }
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => break,
            }
        }
        found.executions.sort_by_key(|view| !needs_attention(view));
        Ok(found)
    }

    /// The history of a machine of any kind.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::history`].
    pub async fn timeline<A: Audience>(&self, id: Id) -> Result<Timeline<A>, LoadError> {
        self.timeline_part(id, 0, usize::MAX).await
    }

    /// A part of it: at most `limit` entries from this number on. The whole history is read, because its
    /// digests chain and because data of states come from earlier entries.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::history`].
    pub async fn timeline_part<A: Audience>(
        &self,
        id: Id,
        from: u64,
        limit: usize,
    ) -> Result<Timeline<A>, LoadError> {
        let history = self.store.observed_history(id).await?;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let part = from..from.saturating_add(limit);
        let written = history.entries.last().and_then(|entry| history.definition(entry));
        let Some(written) = written else {
            return Ok(Timeline::project(&history, part, None, self.language));
        };
        let newest = self.newest(&written.name).await?;
        let own = self.own.iter().copied().find(|own| own.name == written.name);
        let marks = Marks::of(newest.as_deref().unwrap_or(written)).and(own);
        Ok(Timeline::project(&history, part, Some(marks), self.language))
    }

    /// The states and moves of a kind of machine that was stored, or that a worker has driven, under its newest
    /// definition; `None` if there was none.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn topology(&self, machine: &str) -> Result<Option<Topology>, LoadError> {
        Ok(self.newest(machine).await?.map(|definition| Topology::of(&definition)))
    }

    async fn newest(&self, machine: &str) -> Result<Option<Arc<Definition>>, LoadError> {
        let definitions = self.store.definitions().await?;
        Ok(definitions.into_iter().rfind(|known| known.name == machine))
    }
}
