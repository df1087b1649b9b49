use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures_channel::oneshot;

use super::{
    Check, OpenError, Store, Unavailable,
    backend::{Backend, Settings},
    check::Read,
    declared::Declared,
    definitions::Definitions,
    handle::Inner,
    identity::Identities,
    memory::Memory,
    sqlite::{self, Sqlite},
    worker::Worker,
};
use crate::{
    clock::{Clock, SystemClock},
    contract::Tool,
    journal::DigestKey,
    stored::Restore,
};

/// How to open a store.
///
/// ```no_run
/// use std::time::Duration;
/// use machine::store::OpenOptions;
///
/// # async fn example() -> Result<(), machine::store::OpenError> {
/// let store = OpenOptions::new()
///     .busy_timeout(Duration::from_millis(200))
///     .sqlite("agent.db")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions {
    busy_timeout: Duration,
    key: DigestKey,
    declared: Declared,
    reads_all: bool,
    clock: Arc<dyn Clock>,
    must_exist: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            key: DigestKey::default(),
            declared: Declared::default(),
            reads_all: true,
            clock: Arc::new(SystemClock),
            must_exist: false,
        }
    }
}

impl OpenOptions {
    /// The defaults: a busy timeout of 5 seconds, no key, and the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait for another process before the error
    /// [`is_busy`](super::Unavailable::is_busy).
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the secret key of the digests, so that write access to the file is not enough to forge a
    /// history. Without a key, digests detect accidents only.
    ///
    /// A file must always be opened with the key that it was created with:
    /// [`OpenError::OtherKey`] otherwise.
    #[must_use]
    pub fn key(mut self, key: [u8; 32]) -> Self {
        self.key = DigestKey::new(key);
        self
    }

    /// Declares a kind of machine that the program uses. [`sqlite`](Self::sqlite) refuses a file
    /// with machines of that kind that the program's definition cannot read, and lists them.
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.declared.machine::<M>();
        self
    }

    /// Declares a tool that the program has. The arguments of its calls are stored data, too:
    /// [`sqlite`](Self::sqlite) refuses a file with calls that have not ended and whose arguments the type of the
    /// tool cannot read, and lists them.
    ///
    /// ```
    /// use machine::contract::{Idempotent, Tool};
    /// use machine::store::OpenOptions;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct ReadFile {
    ///     path: String,
    /// }
    ///
    /// impl Tool for ReadFile {
    ///     const SERVICE: &'static str = "files";
    ///     const METHOD: &'static str = "read";
    ///     type Effect = Idempotent;
    ///     type Receipt = String;
    /// }
    ///
    /// let options = OpenOptions::new().tool::<ReadFile>();
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        self.declared.tool::<T>();
        self
    }

    /// Opens files although the program cannot read all of their machines, to look at them.
    #[cfg(feature = "cli")]
    pub(crate) fn with_misfits(mut self) -> Self {
        self.reads_all = false;
        self
    }

    #[cfg(feature = "cli")]
    pub(crate) fn declares_nothing(&self) -> bool {
        self.declared.is_empty()
    }

    /// Sets the clock; by default the system clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Makes [`sqlite`](Self::sqlite) refuse to create a store: the file must exist, with a store in it.
    /// A program that only looks after the files of others does not make an empty one by a wrong path.
    ///
    /// ```
    /// use machine::store::{OpenError, OpenOptions};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agnet.db");
    /// let refused = OpenOptions::new().must_exist().sqlite(&file).await;
    /// assert!(matches!(refused, Err(OpenError::CannotOpen { .. })));
    /// assert!(!file.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn must_exist(mut self) -> Self {
        self.must_exist = true;
        self
    }

    /// A new store in memory. It ends with its last clone.
    #[must_use]
    pub fn memory(&self) -> Store {
        self.store(Arc::new(Memory::new(self.settings())), None, false)
    }

    /// Opens a SQLite file, and creates it if it does not exist (but see
    /// [`must_exist`](Self::must_exist)).
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file cannot be opened, is not a database, belongs to another program,
    /// has an unsupported format or incompatible machines, is read-only, or cannot be made durable.
    pub async fn sqlite(&self, path: impl AsRef<Path>) -> Result<Store, OpenError> {
        let open = if self.must_exist { sqlite::open_existing } else { sqlite::open };
        self.open(path.as_ref(), open, false).await
    }

    /// Opens an existing SQLite file for reading only, also while other processes write to it. Reads
    /// and [subscriptions](Store::subscribe) see every commit of others; every write is refused
    /// with [`Unavailable::is_read_only`]. The file is not changed, and no file is created next to it,
    /// with one exception: if it has a write-ahead log, because it is open for writing or because its
    /// process was killed, SQLite may create the shared memory file (`-shm`) that belongs to the log.
    ///
    /// A writer that closes the file while others read it leaves the log, which is then empty; the next
    /// writer to close it removes it.
    ///
    /// ```
    /// use machine::contract::AnyExecution;
    /// use machine::store::{OpenOptions, Query, Store};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agent.db");
    /// # Store::sqlite(&file).await?.close().await?;
    /// let store = OpenOptions::new().read_only(&file).await?;
    /// for line in store.list(&Query::new().status("waiting")).await?.items.iter().flatten() {
    ///     println!("{} waits since {}", line.id, line.updated_at);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`sqlite`](Self::sqlite), and [`OpenError::CannotOpen`] if the file does not exist, has
    /// no store in it yet, or has a write-ahead log that cannot be read.
    pub async fn read_only(&self, path: impl AsRef<Path>) -> Result<Store, OpenError> {
        self.open(path.as_ref(), sqlite::open_for_reading, true).await
    }

    async fn open(
        &self,
        path: &Path,
        open: fn(&Path, Settings) -> Result<Sqlite, OpenError>,
        observes: bool,
    ) -> Result<Store, OpenError> {
        let (path, settings) = (path.to_owned(), self.settings());
        let sqlite = off_thread(move || open(&path, settings)).await??;
        let path = sqlite.path().to_owned();
        let store = self.store(Arc::new(sqlite), Some(path.clone()), observes);
        if self.reads_all {
            let check = store.misfits(&self.declared, Read::All).await?;
            if !check.is_clean() {
                return Err(OpenError::Incompatible { path, check: Box::new(check) });
            }
        }
        Ok(store)
    }

    /// Dry run on a SQLite file: reads every machine of the kinds declared with
    /// [`machine`](Self::machine), including upgrades, and the open calls of those declared with
    /// [`tool`](Self::tool), and reports those that cannot be read. Opens
    /// the file read-only and does not change it. If a process was killed, SQLite may make the shared
    /// memory file (`-shm`) that belongs to the log it left.
    ///
    /// ```
    /// use machine::contract::AnyExecution;
    /// use machine::store::{OpenOptions, Store};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agent.db");
    /// # Store::sqlite(&file).await?.close().await?;
    /// let check = OpenOptions::new().machine::<AnyExecution>().check(&file).await?;
    /// assert!(check.is_clean(), "{check}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file does not exist or cannot be opened by this program.
    pub async fn check(&self, path: impl AsRef<Path>) -> Result<Check, OpenError> {
        let (path, settings) = (path.as_ref().to_owned(), self.settings());
        let sqlite = off_thread(move || sqlite::open_for_reading(&path, settings)).await??;
        let store = self.store(Arc::new(sqlite), None, true);
        let check = store.rehearse(&self.declared).await;
        store.close().await?;
        Ok(check?)
    }

    /// The data of a store in memory, for a backend of a test around it.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn memory_backend(&self) -> Arc<dyn Backend> {
        Arc::new(Memory::new(self.settings()))
    }

    /// A store on a backend of a test, with lock files beside this path.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn on(&self, backend: Arc<dyn Backend>, path: Option<PathBuf>) -> Store {
        self.store(backend, path, false)
    }

    fn settings(&self) -> Settings {
        let busy_ms = u64::try_from(self.busy_timeout.as_millis()).unwrap_or(u64::MAX);
        Settings { key: self.key, busy_ms }
    }

    fn store(&self, backend: Arc<dyn Backend>, path: Option<PathBuf>, observes: bool) -> Store {
        Store {
            inner: Arc::new(Inner {
                identity: backend.identity(),
                backend,
                key: self.key,
                clock: Arc::clone(&self.clock),
                worker: Arc::new(Worker::new(path, observes)),
                definitions: Definitions::default(),
                identities: Identities::default(),
                declared: self.declared.clone(),
                broken: super::broken::Broken::default(),
                commits: std::sync::OnceLock::new(),
            }),
        }
    }
}

/// Runs work that blocks on a thread of its own.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unavailable> {
    let (answer, result) = oneshot::channel();
    std::thread::Builder::new()
        .name("machine-open".to_owned())
        // Sending fails if the caller's future was dropped.
        .spawn(move || drop(answer.send(work())))
        .map_err(Unavailable::other)?;
    result.await.map_err(|_| Unavailable::stopped())
}
