//! Stores in SQLite files.

use std::{path::Path, sync::Arc};

use futures_channel::oneshot;

use crate::store::{
    backend::{Reply, StoreSettings},
    error::{OpenError, Unavailable},
    handle::Store,
    integrity::check::{Check, ReadAs},
    options::OpenOptions,
    sqlite::{self, Sqlite},
};

#[derive(Debug, Clone, Default)]
pub(crate) struct FileOptions {
    must_exist: bool,
    with_misfits: bool,
}

impl OpenOptions {
    /// Opens files for inspection, even if the program cannot read all of their machines.
    pub fn with_misfits(mut self) -> Self {
        self.file.with_misfits = true;
        self
    }

    /// Makes [`sqlite`](Self::sqlite) refuse to create a store: the file must exist, with a store
    /// in it. A program that only inspects existing files then does not create an empty one at a
    /// wrong path.
    ///
    /// ```
    /// use machine::store::{OpenError, OpenOptions};
    ///
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agnet.db");
    /// let refused = OpenOptions::new().must_exist().sqlite(&file).await;
    /// assert!(matches!(refused, Err(OpenError::CannotOpen { .. })));
    /// assert!(!file.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn must_exist(mut self) -> Self {
        self.file.must_exist = true;
        self
    }

    /// Opens a SQLite file, and creates it if it does not exist (but see
    /// [`must_exist`](Self::must_exist)).
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file cannot be opened, is not a database, belongs to another program,
    /// has an unsupported format or incompatible machines, is read-only, or cannot be made durable.
    pub async fn sqlite(&self, path: impl AsRef<Path>) -> Result<Store, OpenError> {
        let must_exist = self.file.must_exist;
        let open = move |path: &Path, settings| sqlite::open(path, settings, must_exist);
        self.open(path.as_ref(), open, false).await
    }

    /// Opens an existing SQLite file for reading only, also while other processes write to it.
    /// Reads and [subscriptions](Store::subscribe) see every commit of others; every write is
    /// refused with [`Unavailable::ReadOnly`]. The file is not changed, and no file is created next
    /// to it, with one exception: if the file has a write-ahead log, because a process has it open
    /// for writing or was killed, SQLite may create the shared memory file (`-shm`) that belongs to
    /// the log.
    ///
    /// A writer that closes the file while others read it leaves an empty log behind; the next
    /// writer that closes the file removes the log.
    ///
    /// ```
    /// use machine::contract::AnyExecution;
    /// use machine::store::{OpenOptions, Query, Store};
    ///
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agent.db");
    /// # Store::sqlite(&file).await?.close().await?;
    /// let store = OpenOptions::new().read_only(&file).await?;
    /// for line in store.list(&Query::new().status("waiting")).await?.items.iter().flatten() {
    ///     println!("{} waits since {}", line.id, line.updated_at);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`sqlite`](Self::sqlite), and [`OpenError::CannotOpen`] if the file does not
    /// exist, has no store in it yet, or has a write-ahead log that cannot be read.
    pub async fn read_only(&self, path: impl AsRef<Path>) -> Result<Store, OpenError> {
        self.open(path.as_ref(), sqlite::open_for_reading, true).await
    }

    async fn open(
        &self,
        path: &Path,
        open: impl FnOnce(&Path, StoreSettings) -> Result<Sqlite, OpenError> + Send + 'static,
        observes: bool,
    ) -> Result<Store, OpenError> {
        let (path, settings) = (path.to_owned(), self.settings());
        let sqlite = off_thread("machine-open", move || open(&path, settings)).await??;
        let path = sqlite.path().to_owned();
        let store = self.store(Arc::new(sqlite), Some(path.clone()), observes);
        if !self.file.with_misfits {
            let check = store.misfits(&self.declared, ReadAs::All).await?;
            if !check.is_clean() {
                return Err(OpenError::Incompatible { path, check: Box::new(check) });
            }
        }
        Ok(store)
    }

    /// Dry run on a SQLite file: reads every machine of the kinds declared with
    /// [`machine`](Self::machine), including upgrades, and the open calls of those declared with
    /// [`tool`](Self::tool), and reports those that cannot be read. Opens the file read-only and
    /// does not change it. If a process was killed, SQLite may create the shared memory file
    /// (`-shm`) of the log that it left.
    ///
    /// ```
    /// use machine::contract::AnyExecution;
    /// use machine::store::{OpenOptions, Store};
    ///
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("agent.db");
    /// # Store::sqlite(&file).await?.close().await?;
    /// let check = OpenOptions::new().machine::<AnyExecution>().check(&file).await?;
    /// assert!(check.is_clean(), "{check}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file does not exist or cannot be opened by this program.
    pub async fn check(&self, path: impl AsRef<Path>) -> Result<Check, OpenError> {
        let (path, settings) = (path.as_ref().to_owned(), self.settings());
        let open = move || sqlite::open_for_reading(&path, settings);
        let sqlite = off_thread("machine-open", open).await??;
        let store = self.store(Arc::new(sqlite), None, true);
        let check = store.rehearse(&self.declared).await;
        store.close().await?;
        Ok(check?)
    }
}

impl Store {
    /// Opens a SQLite file with the default [`OpenOptions`], and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// See [`OpenOptions::sqlite`].
    pub async fn sqlite(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        OpenOptions::new().sqlite(path).await
    }
}

/// Runs blocking work on a dedicated thread, which starts at once.
pub(super) fn off_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Reply<T> {
    let (answer, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name(name.to_owned());
    // Sending fails if the caller's future was dropped.
    let spawned = thread.spawn(move || drop(answer.send(work())));
    Box::pin(async move {
        spawned.map_err(Unavailable::other)?;
        result.await.map_err(|_| Unavailable::Stopped)
    })
}
