use std::{fmt, sync::Arc};

use machine::{
    actor::Actors, contract::Tool, observe::Observer, store::Store, stored::Restore, view::Language,
};

use super::{
    Access,
    feed::Feed,
    host::{InvalidHost, valid},
    receipts::Receipts,
};

/// The views of a store over HTTP, the decisions of people, a stream of events, and the inspector.
///
/// ```
/// use machine::actor::{Actors, Human};
/// use machine_console::http::{Access, Http};
/// use machine::store::Store;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = Store::memory();
/// let access = Access::new().operator(Human::new("ann")?, "3c7ad1f5-of-ann")?;
/// let agent = Http::new(&store, Actors::issue("inspector")?).access(access).router();
/// // The inspector is at /agent/inspector/.
/// let app: axum::Router = axum::Router::new().nest("/agent", agent);
/// # drop(app);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Http {
    pub(super) store: Store,
    pub(super) actors: Arc<Actors>,
    pub(super) observer: Observer,
    pub(super) access: Access,
    /// Names of hosts, besides `localhost`.
    pub(super) hosts: Vec<String>,
    pub(super) command: String,
    pub(super) database: Option<String>,
    pub(super) feed: Arc<Feed>,
    pub(super) receipts: Receipts,
    pub(super) language: Language,
}

pub(super) type Shared = Arc<Http>;

impl Http {
    /// For a store, with the actors by which the library's own executions are moved.
    #[must_use]
    pub fn new(store: &Store, actors: impl Into<Arc<Actors>>) -> Self {
        Self {
            store: store.clone(),
            actors: actors.into(),
            observer: Observer::new(store),
            access: Access::new(),
            hosts: Vec::new(),
            command: "machine".to_owned(),
            database: None,
            feed: Feed::new(store, Language::English),
            receipts: Receipts::default(),
            language: Language::English,
        }
    }

    /// The rights of callers; by default all writes are refused.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The language of summaries, questions, results and reasons; by default English. All other
    /// texts are English.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.observer = self.observer.language(language);
        self.feed = Feed::new(&self.store, language);
        self.language = language;
        self
    }

    /// Declares a kind of machine of the program: see [`Observer::machine`].
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.observer = self.observer.machine::<M>();
        self
    }

    /// Receipts in the reports about calls of this tool must have its type. Without this, any JSON
    /// is a receipt.
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        self.receipts.add::<T>();
        self
    }

    /// The name of a host that this is served as, such as `agents.example.com`. Requests for other
    /// names than `localhost` are refused, because any page can make its own name point to this
    /// server.
    ///
    /// # Errors
    ///
    /// [`InvalidHost`] unless it is a name alone: a request could never be for it. A port does not
    /// matter.
    pub fn host(mut self, name: impl Into<String>) -> Result<Self, InvalidHost> {
        self.hosts.push(valid(name.into())?);
        Ok(self)
    }

    /// The prefix of the commands that the inspector shows, such as `machine --db agent.db`.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }

    /// The name of the file that the inspector shows; by default it shows the prefix of the
    /// commands.
    #[must_use]
    pub fn database(mut self, name: impl Into<String>) -> Self {
        self.database = Some(name.into());
        self
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("store", &self.store)
            .field("access", &self.access)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}
