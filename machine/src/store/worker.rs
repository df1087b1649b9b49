use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use crate::{
    contract::{AtWork, Liveness},
    id::Id,
};

/// A worker, whose liveness other processes can check.
///
/// A worker holds a lock on a file next to the database. The system releases the lock when the
/// process ends for any reason. So if the lock file of a permit's worker is not locked, the worker is
/// dead.
pub(super) struct Worker {
    /// `None` for a store that no other process can see: then there is no lock file.
    database: Option<PathBuf>,
    /// Creates and removes no files.
    observes: bool,
    name: String,
    /// Created with the first permit or by a worker loop, so that readers create no files.
    file: Mutex<Option<File>>,
    /// The calls in flight.
    at_work: Mutex<HashMap<Id, Vec<Weak<Call>>>>,
    /// The executions whose permits were not answered, and how many there are. As long as there is one, the lock file stays,
    /// because it proves that the worker has ended.
    unanswered: Mutex<HashMap<Id, usize>>,
}

/// A call in flight. It keeps the worker alive, so that its lock file is removed only after the last
/// call, even if the store is dropped before.
struct Call {
    _worker: Arc<Worker>,
}

impl Worker {
    pub(super) fn new(database: Option<PathBuf>, observes: bool) -> Self {
        Self {
            database,
            observes,
            name: Id::fresh().to_string(),
            file: Mutex::default(),
            at_work: Mutex::default(),
            unanswered: Mutex::default(),
        }
    }

    /// Whether the store only reads.
    pub(super) fn observes(&self) -> bool {
        self.observes
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Creates the lock file, so that other processes see when this one ends.
    pub(super) fn announce(&self) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(database)) = (&*file, &self.database) {
            *file = Some(self.lock(database)?);
        }
        Ok(())
    }

    /// Registers a call of `execution` as in flight while the returned guard is alive.
    pub(super) fn begin(self: &Arc<Self>, execution: Id) -> std::io::Result<AtWork> {
        self.announce()?;
        // Poisoning is harmless: each map is changed in one step.
        let call = Arc::new(Call { _worker: Arc::clone(self) });
        let mut all = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        for calls in all.values_mut() {
            calls.retain(|call| call.strong_count() > 0);
        }
        all.retain(|_, calls| !calls.is_empty());
        // Added to the others: the loser of a race for an execution must not hide the winner.
        all.entry(execution).or_default().push(Arc::downgrade(&call));
        // Counted, so that the loser of a race does not take back what is the winner's.
        let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        *unanswered.entry(execution).or_default() += 1;
        Ok(call)
    }

    /// The outcome of the call is on disk, or it was never permitted.
    pub(super) fn answered(&self, execution: Id) {
        let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = unanswered.get_mut(&execution) {
            *count -= 1;
            if *count == 0 {
                unanswered.remove(&execution);
            }
        }
    }

    /// Whether a call of `execution` can be in flight, given the worker of its permit.
    pub(super) fn liveness(&self, worker: &str, execution: Id) -> std::io::Result<Liveness> {
        if worker == self.name {
            let calls = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
            let mut calls = calls.get(&execution).into_iter().flatten();
            let alive = calls.any(|call| call.strong_count() > 0);
            return Ok(if alive { Liveness::Alive } else { Liveness::Ended });
        }
        // The name comes from the database; only a valid id may become part of a path.
        let Some(database) = self.database.as_ref().filter(|_| worker.parse::<Id>().is_ok()) else {
            return Ok(Liveness::Unknown);
        };
        let mut file = match File::open(path_of(database, worker)) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Liveness::Unknown);
            }
            Err(error) => return Err(error),
        };
        // Shared, so that two concurrent checks do not mistake each other for the worker.
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Liveness::Alive),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut written = String::new();
        file.read_to_string(&mut written)?;
        // A lock on another host says nothing here.
        Ok(if written == line() { Liveness::Ended } else { Liveness::Unknown })
    }

    /// The workers that have ended and left a lock file. Errors are harmless: the file stays.
    ///
    /// The name decides what is opened. Opening anything else could be the database itself, and closing
    /// it would drop the locks of this process on it.
    pub(super) fn ended(&self) -> Vec<String> {
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
        named.filter(|(_, file)| has_ended(&file.path())).map(|(name, _)| name).collect()
    }

    /// Removes the lock files of these workers.
    pub(super) fn remove(&self, workers: impl Iterator<Item = String>) {
        let Some(database) = &self.database else { return };
        for worker in workers {
            let _ = std::fs::remove_file(path_of(database, &worker));
        }
    }

    /// Creates the lock file of this worker. It is locked before it is renamed to its final name, so
    /// that no process sees it unlocked.
    fn lock(&self, database: &Path) -> std::io::Result<File> {
        let unnamed = path_of(database, &format!("{}.new", self.name));
        loop {
            let file = File::create_new(&unnamed)?;
            file.lock()?;
            (&file).write_all(line().as_bytes())?;
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

/// The worker whose lock file has this name: the prefix and an id, with `.new` before it is locked.
/// Anything else may be somebody's, such as another database.
fn worker_of(name: &OsStr, prefix: &OsStr) -> Option<String> {
    let name = name.to_str()?.strip_prefix(prefix.to_str()?)?;
    let id = name.strip_suffix(".new").unwrap_or(name);
    id.parse::<Id>().ok().map(|_| name.to_owned())
}

/// Whether a lock file is ours, and not locked.
fn has_ended(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let mut text = String::new();
    file.try_lock_shared().is_ok()
        && file.read_to_string(&mut text).is_ok()
        // One that was cut off before it was written names no host.
        && (text.is_empty() || text == line())
}

/// The content of a lock file: the host, because a lock says nothing on another one.
fn line() -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    format!("machine worker on {host}\n")
}

impl Drop for Worker {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let unanswered = self.unanswered.get_mut().unwrap_or_else(PoisonError::into_inner);
        let file = file.take().filter(|_| unanswered.is_empty());
        if let (Some(_), Some(database)) = (file, &self.database) {
            // A remaining file is harmless: it is not locked.
            let _ = std::fs::remove_file(path_of(database, &self.name));
        }
    }
}
