use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
};

use event_listener::Event;
use futures_channel::oneshot;

use crate::{
    clock::{Clock, Millis},
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Backend, FoundRow, Identity, WriteBatch},
        error::Unavailable,
        integrity::declared::Declared,
        operation::Act,
        options::OpenOptions,
        process::worker_lock::WorkerLock,
        read::{broken::BrokenScan, definitions::DefinitionCache},
    },
};

/// Where machines are stored: in memory, or in a SQLite file that several processes can use at
/// once.
///
/// A commit is durable when it returns. Threads of the store do the work, so callers never block,
/// on any runtime; a program without a runtime calls `pollster::block_on(store.load(id))`. A store
/// can be cloned and shared. If a future is dropped before it completes, its write may or may not
/// have happened: commit the same machine again, or load it again.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, execution::Waiting};
/// use machine::store::Store;
///
/// # pollster::block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("agent.db");
/// let store = Store::sqlite(&file).await?;
///
/// let actors = Actors::issue("assistant")?;
/// let question = Contract::ecs_request("Deploy to production?", &actors.reasoning_node)?;
/// let mut waiting = Execution::new(question)
///     .start(&actors.ecs_node)
///     .suspend("Deploy to production?".to_owned(), &actors.ecs_node);
/// store.create(&mut waiting).await?;
///
/// // Later, in any process:
/// let waiting = store.resume::<Waiting>(waiting.id()).await?;
/// assert_eq!(waiting.state().prompt, "Deploy to production?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// | method | what it does |
/// |---|---|
/// | [`batch`](Self::batch) | writes any mix of machines, permits and outcomes, all or nothing |
/// | [`load`](Self::load), [`history`](Self::history) | read the row and the newest digest, or the whole journal |
/// | [`list`](Self::list) | pages through machines by kind, state, session, key, confirmation or due deadline; an unreadable row is an error at its position |
/// | [`subscribe`](Self::subscribe) | yields the committed entries of every process, from any position |
/// | [`verify`](Self::verify), [`verify_all`](Self::verify_all) | replay the journal of a machine, or of all machines |
/// | [`export`](Self::export) | reads a machine with its history, as [JSON](crate::stored::Unverified) that is verified when it is read back |
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// The interface that the operator log names for the acts of people.
    pub(crate) via: &'static str,
    /// The act of a person, for which the handle was made.
    pub(crate) act: Option<Act>,
}

/// A method of [`Store`], as the operator log names the interface.
pub(crate) const PROGRAM: &str = "program";

pub(crate) struct Inner {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) identity: Identity,
    pub(crate) key: DigestKey,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) worker: Arc<WorkerLock>,
    pub(crate) definitions: DefinitionCache,
    /// The declarations with which the program opened the store.
    pub(crate) declared: Declared,
    /// The unreadable rows that the last scan of the whole store found.
    pub(crate) broken: BrokenScan,
    /// The state of the layer above, type-erased.
    pub(crate) attached: OnceLock<Box<dyn Any + Send + Sync>>,
    /// Wakes subscriptions; made with the first one.
    pub(crate) commits: OnceLock<Arc<Event>>,
}

impl Inner {
    /// The state of the layer above; `make` makes it with the first call. There is one type of it.
    pub(crate) fn attached<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let attached = self.attached.get_or_init(|| Box::new(make()));
        attached.downcast_ref().expect("one layer attaches one type")
    }
}

impl Store {
    /// A store in memory, with the default [`OpenOptions`]. It ends with its last clone.
    #[must_use]
    pub fn memory() -> Self {
        OpenOptions::new().memory()
    }

    /// The current time of the store's clock (milliseconds since the Unix epoch).
    #[must_use]
    pub fn now(&self) -> Millis {
        self.inner.clock.now()
    }

    /// A batch of nothing, with a new commit id.
    pub(crate) fn new_batch(&self) -> WriteBatch {
        let batch = WriteBatch::new(WriteBatch::new_commit_id(), self.now());
        batch.at_transaction(&self.inner.clock)
    }

    pub(crate) async fn found(&self, id: Id) -> Result<FoundRow, Unavailable> {
        let found = self.inner.backend.rows(vec![id]).await?.pop();
        Ok(found.unwrap_or(FoundRow::Missing(id)))
    }

    /// Runs work that may block on a thread of the store.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (answer, result) = oneshot::channel();
        // Sending fails if the caller's future was dropped.
        self.inner.backend.run(Box::new(move || drop(answer.send(work()))));
        result.await.map_err(|_| Unavailable::Stopped)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.inner.backend).finish()
    }
}
