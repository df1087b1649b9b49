use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use crate::{
    clock::{Clock, SystemClock, millis},
    journal::DigestKey,
    store::{
        backend::{Backend, StoreSettings},
        handle::{Inner, PROGRAM, Store},
        integrity::declared::Declared,
        memory::Memory,
        process::worker_lock::WorkerLock,
        read::definitions::DefinitionCache,
    },
    stored::Restore,
};

/// Options for opening a store.
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
#[must_use]
pub struct OpenOptions {
    busy_timeout: Duration,
    key: DigestKey,
    pub(crate) declared: Declared,
    clock: Arc<dyn Clock>,
    #[cfg(feature = "sqlite")]
    pub(crate) file: super::open::FileOptions,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            key: DigestKey::default(),
            declared: Declared::default(),
            clock: Arc::new(SystemClock),
            #[cfg(feature = "sqlite")]
            file: super::open::FileOptions::default(),
        }
    }
}

impl OpenOptions {
    /// The defaults: a busy timeout of 5 seconds, no key, and the system clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait for another process before the error
    /// [`is_busy`](super::Unavailable::is_busy). The time of a write counts from the call,
    /// including the time in the queue. If the other process was frozen while it changed the index
    /// of the log, SQLite itself first retries for ten seconds, regardless of the timeout.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the secret key of the digests, so that write access to the file is not enough to forge
    /// a history. Without a key, digests detect accidents only.
    ///
    /// A file must always be opened with the key that it was created with:
    /// [`OpenError::OtherKey`](crate::store::OpenError::OtherKey) otherwise.
    pub fn key(mut self, key: [u8; 32]) -> Self {
        self.key = DigestKey::new(key);
        self
    }

    /// Declares a kind of machine that the program uses. [`sqlite`](Self::sqlite) refuses a file
    /// with machines of that kind that the program's definition cannot read, and lists them.
    pub fn machine<M: Restore>(mut self) -> Self {
        self.declared.machine::<M>();
        self
    }

    /// Returns `true` if neither a machine nor a tool was declared.
    #[must_use]
    pub fn declares_nothing(&self) -> bool {
        self.declared.is_empty()
    }

    /// Sets the clock; by default the system clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// A new store in memory. It ends with its last clone.
    #[must_use]
    pub fn memory(&self) -> Store {
        self.store(Arc::new(Memory::new(self.settings())), None, false)
    }

    pub(crate) fn settings(&self) -> StoreSettings {
        let busy_ms = millis(self.busy_timeout);
        StoreSettings { key: self.key, busy_ms, checkpoint_frames: 1000 }
    }

    pub(crate) fn store(
        &self,
        backend: Arc<dyn Backend>,
        path: Option<PathBuf>,
        observes: bool,
    ) -> Store {
        Store {
            inner: Arc::new(Inner {
                identity: backend.identity(),
                backend,
                key: self.key,
                clock: Arc::clone(&self.clock),
                worker: Arc::new(WorkerLock::new(path, observes)),
                definitions: DefinitionCache::default(),
                declared: self.declared.clone(),
                broken: crate::store::read::broken::BrokenScan::default(),
                attached: OnceLock::new(),
                commits: OnceLock::new(),
            }),
            via: PROGRAM,
            act: None,
        }
    }
}
