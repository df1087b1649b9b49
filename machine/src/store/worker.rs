use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use crate::{contract::AtWork, id::Id};

/// A worker, whose liveness other processes can check.
///
/// A worker holds a lock on a file next to the database. The system releases the lock when the
/// process ends for any reason. So if the lock file of a permit's worker is not locked, the worker is
/// dead.
pub(super) struct Worker {
    /// `None` for a store that no other process can see: then there is no lock file.
    database: Option<PathBuf>,
    name: String,
    /// Created with the first permit, so that readers create no files.
    file: Mutex<Option<File>>,
    /// The calls in flight.
    at_work: Mutex<HashMap<Id, Vec<Weak<Call>>>>,
}

/// A call in flight. It keeps the worker alive, so that its lock file is removed only after the last
/// call, even if the store is dropped before.
struct Call {
    _worker: Arc<Worker>,
}

impl Worker {
    pub(super) fn new(database: Option<PathBuf>) -> Self {
        Self {
            database,
            name: Id::fresh().to_string(),
            file: Mutex::default(),
            at_work: Mutex::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Registers a call of `execution` as in flight while the returned guard is alive.
    pub(super) fn begin(self: &Arc<Self>, execution: Id) -> std::io::Result<AtWork> {
        // Poisoning is harmless: each map is changed in one step.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(database)) = (&*file, &self.database) {
            *file = Some(self.lock(database)?);
        }
        let call = Arc::new(Call { _worker: Arc::clone(self) });
        let mut all = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        for calls in all.values_mut() {
            calls.retain(|call| call.strong_count() > 0);
        }
        all.retain(|_, calls| !calls.is_empty());
        // Added to the others: the loser of a race for an execution must not hide the winner.
        all.entry(execution).or_default().push(Arc::downgrade(&call));
        Ok(call)
    }

    /// Whether a call of `execution` is in flight, given the worker of its permit.
    pub(super) fn is_at_work(&self, worker: &str, execution: Id) -> std::io::Result<bool> {
        if worker == self.name {
            let calls = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
            let mut calls = calls.get(&execution).into_iter().flatten();
            return Ok(calls.any(|call| call.strong_count() > 0));
        }
        // The name comes from the database; only a valid id may become part of a path.
        let Some(database) = self.database.as_ref().filter(|_| worker.parse::<Id>().is_ok()) else {
            return Ok(false);
        };
        match File::open(path_of(database, worker)) {
            // Shared, so that two concurrent checks do not mistake each other for the worker.
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(error)) => Err(error),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the lock files of dead workers. Errors are harmless and ignored.
    pub(super) fn sweep(&self) {
        let Some(database) = &self.database else { return };
        let prefix = path_of(database, "");
        let (Some(folder), Some(prefix)) = (prefix.parent(), prefix.file_name()) else { return };
        let Ok(files) = folder.read_dir() else { return };
        for file in files.flatten() {
            // Ours are empty. Anything else of that name is somebody's.
            let ours = file.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
            if ours
                && is_worker(&file.file_name(), prefix)
                && File::open(file.path()).is_ok_and(|file| file.try_lock_shared().is_ok())
            {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Creates the lock file of this worker. It is locked before it is renamed to its final name, so
    /// that no process sees it unlocked.
    fn lock(&self, database: &Path) -> std::io::Result<File> {
        let unnamed = path_of(database, &format!("{}.new", self.name));
        loop {
            let file = File::create_new(&unnamed)?;
            file.lock()?;
            match std::fs::rename(&unnamed, path_of(database, &self.name)) {
                // Another process swept it before it was locked.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                other => return other.map(|()| file),
            }
        }
    }
}

/// The lock file of a worker.
fn path_of(database: &Path, worker: &str) -> PathBuf {
    let mut path = database.to_owned().into_os_string();
    path.push(format!("-worker-{worker}"));
    path.into()
}

/// Whether a file has the name of a worker: the prefix and an id, with `.new` before it is locked.
/// Anything else may be somebody's, such as another database.
fn is_worker(name: &OsStr, prefix: &OsStr) -> bool {
    let (Some(name), Some(prefix)) = (name.to_str(), prefix.to_str()) else { return false };
    let id = name.strip_prefix(prefix);
    let id = id.map(|id| id.strip_suffix(".new").unwrap_or(id));
    id.is_some_and(|id| id.parse::<Id>().is_ok())
}

impl Drop for Worker {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(_), Some(database)) = (file.take(), &self.database) {
            // A remaining file is harmless: it is not locked.
            let _ = std::fs::remove_file(path_of(database, &self.name));
        }
    }
}
