use std::{
    collections::HashMap,
    fs::{File, TryLockError},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use crate::{contract::AtWork, id::Id};

/// This process, as others can tell whether it still lives.
///
/// A worker holds a lock on a file beside the database. The system lets go of it when the process
/// ends, however it ends; so a permit whose worker's file is not locked is nobody's any more.
pub(super) struct Worker {
    database: PathBuf,
    name: String,
    /// Made when the first permit goes out: readers leave no files.
    file: Mutex<Option<File>>,
    /// The calls that this process is at.
    at_work: Mutex<HashMap<Id, Vec<Weak<Call>>>>,
}

/// A call that this process is at. It keeps the worker, so that the worker's file goes with the
/// last call, even where the store was dropped before.
struct Call {
    _worker: Arc<Worker>,
}

impl Worker {
    pub(super) fn new(database: PathBuf) -> Self {
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

    /// Says that this process is at `execution` for as long as what is returned lives.
    pub(super) fn begin(self: &Arc<Self>, execution: Id) -> std::io::Result<AtWork> {
        // A panic elsewhere leaves these maps whole: each is changed in one step.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(self.lock()?);
        }
        let call = Arc::new(Call { _worker: Arc::clone(self) });
        let mut all = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        for calls in all.values_mut() {
            calls.retain(|call| call.strong_count() > 0);
        }
        all.retain(|_, calls| !calls.is_empty());
        // Beside the others: one that loses the race for an execution must not hide the winner.
        all.entry(execution).or_default().push(Arc::downgrade(&call));
        Ok(call)
    }

    /// Whether somebody is at `execution`, given the worker that its permit went to.
    pub(super) fn is_at_work(&self, worker: &str, execution: Id) -> std::io::Result<bool> {
        if worker == self.name {
            let calls = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
            let mut calls = calls.get(&execution).into_iter().flatten();
            return Ok(calls.any(|call| call.strong_count() > 0));
        }
        // The name comes out of the database; only an id may become part of a path.
        if worker.parse::<Id>().is_err() {
            return Ok(false);
        }
        match File::open(self.path_of(worker)) {
            // Shared, so that two who look at once do not take each other for the worker.
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(error)) => Err(error),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes what dead workers left behind. Trouble with that does no harm.
    pub(super) fn sweep(&self) {
        let prefix = self.path_of("");
        let (Some(folder), Some(prefix)) = (prefix.parent(), prefix.file_name()) else { return };
        let Ok(files) = folder.read_dir() else { return };
        let prefix = prefix.as_encoded_bytes();
        for file in files.flatten() {
            let is_worker = file.file_name().as_encoded_bytes().starts_with(prefix);
            if is_worker && File::open(file.path()).is_ok_and(|file| file.try_lock_shared().is_ok())
            {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Makes this process's file. It gets its name only once it is locked, so that whoever sees
    /// the name sees the lock.
    fn lock(&self) -> std::io::Result<File> {
        let unnamed = self.path_of(&format!("{}.new", self.name));
        loop {
            let file = File::create_new(&unnamed)?;
            file.lock()?;
            match std::fs::rename(&unnamed, self.path_of(&self.name)) {
                // Somebody swept it away before it was locked.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                other => return other.map(|()| file),
            }
        }
    }

    fn path_of(&self, worker: &str) -> PathBuf {
        let mut path = self.database.clone().into_os_string();
        path.push(format!("-worker-{worker}"));
        path.into()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if file.take().is_some() {
            // A file that stays behind only says that nobody locks it.
            let _ = std::fs::remove_file(self.path_of(&self.name));
        }
    }
}
