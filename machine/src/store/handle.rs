use std::{fmt, sync::Arc};

use event_listener::Event;
use futures_channel::oneshot;

use crate::{
    clock::{Clock, Millis},
    effects::{batch::Batch, identity::Identities},
    journal::DigestKey,
    store::{
        backend::{Backend, Identity},
        error::{CommitError, Unavailable},
        integrity::declared::Declared,
        options::OpenOptions,
        process::worker::Worker,
        read::{broken::Broken, definitions::Definitions},
    },
    stored::Durable,
};

/// Where machines are stored: in memory, or in a SQLite file that several processes can use at once.
///
/// A commit is durable when it returns. The work is done by threads of the store, so that callers do
/// not block, whatever runtime they use. A store can be cloned and shared. If a future is dropped
/// before it completes, its write may or may not have happened: commit the same machine again, or
/// load it again.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, execution::Waiting};
/// use machine::store::Store;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
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
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// The interface that the operator log names for the acts of people.
    pub(crate) via: &'static str,
}

/// A method of [`Store`], as the operator log names the interface.
pub(crate) const PROGRAM: &str = "program";

pub(crate) struct Inner {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) identity: Identity,
    pub(crate) key: DigestKey,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) worker: Arc<Worker>,
    pub(crate) definitions: Definitions,
    pub(crate) identities: Identities,
    /// The declarations with which the program opened the store.
    pub(crate) declared: Declared,
    /// The unreadable rows that the last scan of the whole store found.
    pub(crate) broken: Broken,
    /// Wakes subscriptions; made with the first one.
    pub(crate) commits: std::sync::OnceLock<Arc<Event>>,
}

impl Store {
    /// A store in memory, with the default [`OpenOptions`]. It ends with its last clone.
    #[must_use]
    pub fn memory() -> Self {
        OpenOptions::new().memory()
    }

    /// Stores a new machine with its whole journal.
    ///
    /// # Errors
    ///
    /// [`CommitError::AlreadyDone`] if the machine would repeat a completed irreversible action,
    /// [`CommitError::KeyReused`] if its key belongs to another action,
    /// [`CommitError::EffectLowered`] if its tool is irreversible in this store and it says otherwise,
    /// [`CommitError::OtherIdentity`] and [`CommitError::IdentityChanged`] if this program makes other
    /// keys for the tool than the one that used it before,
    /// [`CommitError::Imported`] if it was read from data and could run here, and those of
    /// [`commit`](Self::commit). The machine is unchanged.
    pub async fn create<M: Durable>(&self, machine: &mut M) -> Result<(), CommitError> {
        self.batch().create(machine).write().await
    }

    /// Writes everything that happened to the machine since it was loaded or last committed. When
    /// this returns, it is durable.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] if another commit changed the machine in the meantime.
    /// [`CommitError::Refused`] if the rules of the machine's context forbid it.
    /// [`CommitError::Unavailable`] if the storage cannot do it now. The machine is unchanged, so
    /// that the commit can be retried.
    pub async fn commit<M: Durable>(&self, machine: &mut M) -> Result<(), CommitError> {
        self.batch().commit(machine).write().await
    }

    /// Writes that happen together, or not at all.
    pub fn batch(&self) -> Batch<'_> {
        Batch::new(self)
    }

    /// The current time of the store's clock (milliseconds since the Unix epoch).
    #[must_use]
    pub fn now(&self) -> Millis {
        self.inner.clock.now()
    }

    /// Finishes what is queued, writes the answers of calls that arrived, and closes the store, also for its
    /// clones. After that the file has everything and can be copied, if no other process uses it.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the file could not be written completely. Committed data are safe: they
    /// are in the write-ahead log next to the file.
    pub async fn close(&self) -> Result<(), Unavailable> {
        let mut unwritten = Ok(());
        for id in self.inner.worker.with_unwritten() {
            // A call whose answer cannot be written keeps its lock, so that it is not taken for one without an answer.
            unwritten = unwritten.and(self.write_answers(id).await);
        }
        let closed = self.inner.backend.close().await;
        // Subscriptions that wait learn that nothing more will come.
        if let Some(commits) = self.inner.commits.get() {
            commits.notify(usize::MAX);
        }
        match unwritten {
            Err(CommitError::Unavailable(error)) => Err(error),
            Err(error) => Err(Unavailable::other(error)),
            Ok(()) => closed,
        }
    }

    /// Runs work that may block on a thread of the store.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (answer, result) = oneshot::channel();
        // Sending fails if the caller's future was dropped.
        self.inner.backend.run(Box::new(move || drop(answer.send(work()))));
        result.await.map_err(|_| Unavailable::stopped())
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.inner.backend).finish()
    }
}
