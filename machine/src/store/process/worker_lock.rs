use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use crate::{
    clock::Millis,
    id::Id,
    process::Liveness,
    store::{lock::lock, process::lock_file},
};

/// The lock file of a worker, by which other processes see that it is alive.
///
/// A worker holds a lock on a file next to the database. The system releases the lock when the
/// process ends for any reason. So if the lock file of a permit's worker is not locked, the worker
/// is dead.
pub(crate) struct WorkerLock {
    /// `None` for a store that no other process can see: then there is no lock file.
    database: Option<PathBuf>,
    /// Creates and removes no files.
    observes: bool,
    name: String,
    /// Created with the first permit or by a worker loop, so that readers create no files.
    file: Mutex<Option<File>>,
    /// Set when calls of this process have not ended for certain.
    keeps_file: AtomicBool,
    /// Another handle of a lock that is kept until the process ends: a simulated process ends
    /// earlier.
    #[cfg(all(test, feature = "worker"))]
    kept: Mutex<Option<File>>,
}

impl WorkerLock {
    pub(crate) fn new(database: Option<PathBuf>, observes: bool) -> Self {
        Self {
            database,
            observes,
            name: Id::fresh().to_string(),
            file: Mutex::default(),
            keeps_file: AtomicBool::new(false),
            #[cfg(all(test, feature = "worker"))]
            kept: Mutex::default(),
        }
    }

    pub(crate) fn observes(&self) -> bool {
        self.observes
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Creates the lock file, so that other processes see when this one ends.
    pub(crate) fn announce(&self) -> io::Result<()> {
        let mut file = lock(&self.file);
        if let (None, Some(database)) = (&*file, &self.database) {
            *file = Some(self.lock(database)?);
        }
        Ok(())
    }

    /// Releases the lock, as the end of the process would.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn release(&self) {
        drop(lock(&self.file).take());
        let kept = lock(&self.kept).take();
        // The lock belongs to all handles of the file.
        kept.map_or(Ok(()), |file| file.unlock()).expect("the lock is released");
    }

    pub(crate) fn liveness_of_process(&self, worker: &str) -> io::Result<Liveness> {
        // The name comes from the database; only a valid id may become part of a path.
        match self.database.as_ref().filter(|_| worker.parse::<Id>().is_ok()) {
            Some(database) => lock_file::liveness(&path_of(database, worker), worker),
            None => Ok(Liveness::Unknown),
        }
    }

    /// Says by when the worker will have looked for work again: as the time of its lock file, so
    /// that nothing is written to the database. Without that it counts as silent, which is
    /// harmless.
    pub(crate) fn looks_again_by(&self, at: Millis) {
        let file = lock(&self.file);
        if let (Some(file), Ok(at)) = (&*file, u64::try_from(at)) {
            let _ = file.set_modified(UNIX_EPOCH + Duration::from_millis(at));
        }
    }

    /// By when a worker was to look for work again.
    pub(crate) fn looks_by(&self, worker: &str) -> Option<Millis> {
        let database = self.database.as_ref().filter(|_| worker.parse::<Id>().is_ok())?;
        let at = std::fs::metadata(path_of(database, worker)).ok()?.modified().ok()?;
        Millis::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    }

    /// Keeps the lock until the process ends.
    pub(crate) fn keep_lock(&self) {
        let mut file = lock(&self.file);
        if let Some(file) = file.take() {
            #[cfg(all(test, feature = "worker"))]
            {
                *lock(&self.kept) = file.try_clone().ok();
            }
            std::mem::forget(file);
        }
    }

    /// Leaves the lock file behind, unlocked, so that others see that this process has ended.
    pub(crate) fn keep_file(&self) {
        self.keeps_file.store(true, Ordering::Relaxed);
    }

    pub(crate) fn lock_handle(&self) -> io::Result<Option<File>> {
        let file = lock(&self.file);
        file.as_ref().map(File::try_clone).transpose()
    }

    /// The workers that have ended and left a lock file. Errors are harmless: the file stays.
    ///
    /// The name decides what is opened. Opening anything else could be the database itself, and
    /// closing it would drop the locks of this process on it.
    pub(crate) fn ended(&self) -> Vec<String> {
        let Some(database) = self.database.as_ref().filter(|_| !self.observes) else {
            return Vec::new();
        };
        let prefix = path_of(database, "");
        let (Some(folder), Some(prefix)) = (prefix.parent(), prefix.file_name()) else {
            return Vec::new();
        };
        let Ok(files) = folder.read_dir() else { return Vec::new() };
        let files = files.flatten().filter(|file| file.file_type().is_ok_and(|it| it.is_file()));
        let named = files.filter_map(|file| Some((worker_of(&file.file_name(), prefix)?, file)));
        let has_ended =
            |(name, file): &(String, std::fs::DirEntry)| match name.strip_suffix(UNNAMED) {
                Some(_) => lock_file::is_abandoned(&file.path()),
                None => matches!(lock_file::liveness(&file.path(), name), Ok(Liveness::Ended)),
            };
        named.filter(has_ended).map(|(name, _)| name).collect()
    }

    pub(crate) fn remove(&self, workers: impl Iterator<Item = String>) {
        let Some(database) = &self.database else { return };
        for worker in workers {
            let _ = std::fs::remove_file(path_of(database, &worker));
        }
    }

    fn lock(&self, database: &Path) -> io::Result<File> {
        let unnamed = path_of(database, &format!("{}{UNNAMED}", self.name));
        lock_file::create(&unnamed, &path_of(database, &self.name), &self.name)
    }
}

/// The end of the name of a lock file that is not locked yet.
const UNNAMED: &str = ".new";

fn path_of(database: &Path, worker: &str) -> PathBuf {
    let mut path = database.to_owned().into_os_string();
    path.push(format!("-worker-{worker}"));
    path.into()
}

/// The worker whose lock file has this name: the prefix and an id, with [`UNNAMED`] before it is
/// locked. Any other file may have another owner, such as another database.
fn worker_of(name: &OsStr, prefix: &OsStr) -> Option<String> {
    let name = name.to_str()?.strip_prefix(prefix.to_str()?)?;
    let id = name.strip_suffix(UNNAMED).unwrap_or(name);
    id.parse::<Id>().ok().map(|_| name.to_owned())
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(_), Some(database), false) = (file, &self.database, *self.keeps_file.get_mut())
        {
            // A remaining file is harmless: it is not locked.
            let _ = std::fs::remove_file(path_of(database, &self.name));
        }
    }
}
