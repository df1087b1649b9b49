use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures_channel::oneshot;

use super::{
    Check, OpenError, Store, Unavailable,
    backend::{Backend, Settings},
    check::Named,
    definitions::Definitions,
    handle::Inner,
    memory::Memory,
    sqlite,
    worker::Worker,
};
use crate::{
    clock::{Clock, SystemClock},
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
    named: Vec<Named>,
    clock: Arc<dyn Clock>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            key: DigestKey::default(),
            named: Vec::new(),
            clock: Arc::new(SystemClock),
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

    /// Sets the secret key of the digests, so that write access to the file is not enough to make a
    /// history that never was. Without a key, digests detect accidents only.
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
        self.named.push(Named::of::<M>());
        self
    }

    /// Sets the clock; by default the system clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// A new store in memory. It ends with its last clone.
    #[must_use]
    pub fn memory(&self) -> Store {
        self.store(Arc::new(Memory::new(self.settings())), None)
    }

    /// Opens a SQLite file, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file cannot be opened, is not a database, belongs to another program,
    /// has an unsupported format or incompatible machines, is read-only, or cannot be made durable.
    pub async fn sqlite(&self, path: impl AsRef<Path>) -> Result<Store, OpenError> {
        let (path, settings) = (path.as_ref().to_owned(), self.settings());
        let sqlite = off_thread(move || sqlite::open(&path, settings)).await??;
        let path = sqlite.path().to_owned();
        let store = self.store(Arc::new(sqlite), Some(path.clone()));
        let check = store.incompatible(&self.named).await?;
        if !check.is_clean() {
            return Err(OpenError::Incompatible { path, check: Box::new(check) });
        }
        Ok(store)
    }

    /// Dry run on a SQLite file: reads every machine of the kinds declared with
    /// [`machine`](Self::machine), including upgrades, and reports those that cannot be read. Opens
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
        let store = self.store(Arc::new(sqlite), None);
        let check = store.rehearse(&self.named).await;
        store.close().await?;
        check
    }

    /// The data of a store in memory, for a backend of a test around it.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn memory_backend(&self) -> Arc<dyn Backend> {
        Arc::new(Memory::new(self.settings()))
    }

    /// A store on a backend of a test.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn on(&self, backend: Arc<dyn Backend>) -> Store {
        self.store(backend, None)
    }

    fn settings(&self) -> Settings {
        let busy_ms = u64::try_from(self.busy_timeout.as_millis()).unwrap_or(u64::MAX);
        Settings { key: self.key, busy_ms }
    }

    fn store(&self, backend: Arc<dyn Backend>, path: Option<PathBuf>) -> Store {
        Store {
            inner: Arc::new(Inner {
                identity: backend.identity(),
                backend,
                key: self.key,
                clock: Arc::clone(&self.clock),
                worker: Arc::new(Worker::new(path)),
                definitions: Definitions::default(),
                named: self.named.clone(),
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
