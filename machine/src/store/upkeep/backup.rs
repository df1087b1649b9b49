use std::path::{Path, PathBuf};

use crate::store::{error::Unavailable, handle::Store, read::subscribe::Position};

/// A copy that [`Store::backup`] made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The copy.
    pub path: PathBuf,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The newest entry in it.
    pub position: Position,
}

/// The progress of [`Store::backup`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupProgress {
    /// The number of bytes copied so far.
    pub bytes: u64,
    /// The size of the copy, in bytes.
    pub total_bytes: u64,
}

/// The reason why no backup was made. No file has the name of the copy, unless it existed before.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum BackupError {
    /// A file with this name exists.
    #[error(
        "{path} already exists, and a backup never overwrites a file; choose another name, or move it away"
    )]
    Exists { path: PathBuf },
    /// The copy cannot be written, or not under this name.
    #[error("cannot write {path}: {reason}")]
    CannotWrite { path: PathBuf, reason: String },
    /// The disk with the copy is full.
    #[error("no space left for {path}; free some, or choose a path on another disk")]
    Full { path: PathBuf },
    /// The store is in memory.
    #[error("the store is in memory, so there is no file to copy; `export` writes single machines")]
    InMemory,
    /// The store cannot be read now.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl Store {
    /// Copies the whole store to a new file, while any number of processes write to it. The copy is
    /// a snapshot: it has every commit that was acknowledged before the call, and only whole
    /// commits. It is a store like any other, with the same key; [`verify_all`](Self::verify_all)
    /// checks it. When it is first opened for writing, it gets a new generation, higher than that
    /// of the original, so that positions in the journal and fencing tokens of the two stores are
    /// never confused.
    ///
    /// The copy gets its name when it is complete and on disk. Until then, it is a file
    /// `NAME-backup-ID.partial`; if a process was killed, its partial file can be deleted. If the
    /// future is dropped, the backup ends.
    ///
    /// Writers are not blocked, but the write-ahead log grows until the backup has ended. Lock
    /// files of workers are not copied, so the copy cannot show whether a worker of the original
    /// has ended.
    ///
    /// Calls `progress` from time to time.
    ///
    /// ```
    /// use machine::store::{OpenOptions, Store};
    ///
    /// # pollster::block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let (file, copy) = (folder.path().join("agent.db"), folder.path().join("copy.db"));
    /// let store = Store::sqlite(&file).await?;
    /// let backup = store.backup(&copy, |progress| {
    ///     eprintln!("{} of {} bytes", progress.bytes, progress.total_bytes);
    /// }).await?;
    ///
    /// let copy = OpenOptions::new().read_only(&backup.path).await?;
    /// assert!(copy.verify_all(|_| {}).await?.is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`BackupError`] if a file with that name exists, its folder does not, the disk is full, the
    /// store is in memory or cannot be read.
    pub async fn backup(
        &self,
        to: impl AsRef<Path>,
        mut progress: impl FnMut(BackupProgress),
    ) -> Result<Backup, BackupError> {
        // A step that was not received yet is replaced by the next one.
        let (sender, steps) = async_channel::bounded(1);
        let answer = self.inner.backend.backup(to.as_ref().to_owned(), sender);
        // It ends when the copy is made or the backend gives up.
        while let Ok(step) = steps.recv().await {
            progress(step);
        }
        answer.await?
    }
}
