use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    contract::{CallRecord, Evidence, Liveness},
    id::Id,
    store::process::lock_file,
};

/// A worker, whose liveness other processes can check.
///
/// A worker holds a lock on a file next to the database. The system releases the lock when the
/// process ends for any reason. So if the lock file of a permit's worker is not locked, the worker is
/// dead.
pub(crate) struct Worker {
    /// `None` for a store that no other process can see: then there is no lock file.
    database: Option<PathBuf>,
    /// Creates and removes no files.
    observes: bool,
    name: String,
    /// Created with the first permit or by a worker loop, so that readers create no files.
    file: Mutex<Option<File>>,
    /// The calls whose end still matters to the store, by their executions.
    calls: Mutex<HashMap<Id, Vec<Arc<CallRecord>>>>,
}

impl Worker {
    pub(crate) fn new(database: Option<PathBuf>, observes: bool) -> Self {
        Self {
            database,
            observes,
            name: Id::fresh().to_string(),
            file: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    /// Returns `true` if the store only reads.
    pub(crate) fn observes(&self) -> bool {
        self.observes
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Creates the lock file, so that other processes see when this one ends.
    pub(crate) fn announce(&self) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(database)) = (&*file, &self.database) {
            *file = Some(self.lock(database)?);
        }
        Ok(())
    }

    /// Releases the lock, as the end of the process would.
    #[cfg(all(test, feature = "worker"))]
    pub(crate) fn release(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Registers a call of `execution`.
    pub(crate) fn begin(&self, execution: Id, irreversible: bool) -> io::Result<Arc<CallRecord>> {
        self.announce()?;
        let record = Arc::new(CallRecord::new(irreversible));
        let mut calls = self.calls();
        for records in calls.values_mut() {
            records.retain(|record| record.needs_proof());
        }
        calls.retain(|_, records| !records.is_empty());
        // Added to the others: the loser of a race for an execution must not hide the winner.
        calls.entry(execution).or_default().push(Arc::clone(&record));
        Ok(record)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Id, Vec<Arc<CallRecord>>>> {
        // Poisoning is harmless: the map is changed in single steps.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self, execution: Id) -> Vec<Arc<CallRecord>> {
        self.calls().get(&execution).cloned().unwrap_or_default()
    }

    /// Checks whether a call of `execution` can still take effect, given the worker of its permit.
    pub(crate) fn liveness(&self, worker: &str, execution: Id) -> io::Result<Liveness> {
        if worker != self.name {
            return self.liveness_of_process(worker);
        }
        let found = self.records(execution).iter().fold(Liveness::Ended, |worst, record| {
            match (worst, record.liveness()) {
                (Liveness::Alive, _) | (_, Liveness::Alive) => Liveness::Alive,
                (Liveness::CutOff, _) | (_, Liveness::CutOff) => Liveness::CutOff,
                _ => Liveness::Ended,
            }
        });
        Ok(found)
    }

    /// Checks whether another worker's process is alive.
    pub(crate) fn liveness_of_process(&self, worker: &str) -> io::Result<Liveness> {
        // The name comes from the database; only a valid id may become part of a path.
        match self.database.as_ref().filter(|_| worker.parse::<Id>().is_ok()) {
            Some(database) => lock_file::liveness(&path_of(database, worker), worker),
            None => Ok(Liveness::Unknown),
        }
    }

    /// The end of a call of `execution` does not matter to the store any more.
    pub(crate) fn forget(&self, execution: Id) {
        self.calls().remove(&execution);
    }

    /// The calls of `execution` that have an answer which may not be on disk.
    pub(crate) fn unwritten(&self, execution: Id) -> Vec<(Arc<CallRecord>, Evidence)> {
        let records = self.records(execution).into_iter();
        records.filter_map(|record| record.unwritten().map(|evidence| (record, evidence))).collect()
    }

    /// The executions whose calls have an answer which may not be on disk.
    pub(crate) fn with_unwritten(&self) -> Vec<Id> {
        let calls = self.calls();
        let is_unwritten = |records: &Vec<Arc<CallRecord>>| {
            records.iter().any(|record| record.unwritten().is_some())
        };
        calls.iter().filter(|(_, records)| is_unwritten(records)).map(|(id, _)| *id).collect()
    }

    /// Another handle of the lock.
    pub(crate) fn lock_handle(&self) -> io::Result<Option<File>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().map(File::try_clone).transpose()
    }

    /// The workers that have ended and left a lock file. Errors are harmless: the file stays.
    ///
    /// The name decides what is opened. Opening anything else could be the database itself, and closing
    /// it would drop the locks of this process on it.
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

    /// Removes the lock files of these workers.
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

/// The lock file of a worker.
fn path_of(database: &Path, worker: &str) -> PathBuf {
    let mut path = database.to_owned().into_os_string();
    path.push(format!("-worker-{worker}"));
    path.into()
}

/// The worker whose lock file has this name: the prefix and an id, with [`UNNAMED`] before it is locked.
/// Any other file may have another owner, such as another database.
fn worker_of(name: &OsStr, prefix: &OsStr) -> Option<String> {
    let name = name.to_str()?.strip_prefix(prefix.to_str()?)?;
    let id = name.strip_suffix(UNNAMED).unwrap_or(name);
    id.parse::<Id>().ok().map(|_| name.to_owned())
}

impl Drop for Worker {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(file), Some(database)) = (file, &self.database) else { return };
        let calls = self.calls.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut open = calls.values().flatten().filter(|record| record.needs_proof()).peekable();
        if open.peek().is_none() {
            // A remaining file is harmless: it is not locked.
            let _ = std::fs::remove_file(path_of(database, &self.name));
        } else if open.any(|record| record.liveness() != Liveness::Ended) {
            // Cut off, or with a receipt that could not be written. The lock belongs to the process now, and
            // ends with it.
            std::mem::forget(file);
        }
    }
}
