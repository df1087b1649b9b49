//! Lock files: how a process shows others that it is alive.

use std::{
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::{
    process::{Liveness, Process},
    store::process::host,
};

/// The content of a lock file: the process that holds the lock, and where the lock means something.
///
/// The inode tells a copy from the original. The boot tells whether the lock would have been
/// released by now: within one boot of one kernel the lock alone decides, whatever the host is
/// called. After another boot, the lock is free in any case, and proves the end of the process only
/// if the file has been on this machine all the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LockRecord {
    worker: String,
    inode: Option<u64>,
    device: Option<u64>,
    boot: Option<String>,
    machine: Option<String>,
    #[serde(flatten)]
    process: Process,
}

/// The values that a lock file is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Here {
    /// The file itself.
    inode: Option<u64>,
    device: Option<u64>,
    is_local: bool,
    boot: Option<String>,
    machine: Option<String>,
    host: String,
}

impl Here {
    fn of(file: &File) -> Self {
        let (device, inode) = file.metadata().ok().as_ref().and_then(host::place).unzip();
        Self {
            inode,
            device,
            is_local: host::is_local(file),
            boot: host::boot(),
            machine: host::machine(),
            host: host::name(),
        }
    }
}

impl LockRecord {
    fn of(worker: &str, file: &File) -> Self {
        let Here { inode, device, boot, machine, .. } = Here::of(file);
        let (worker, process) = (worker.to_owned(), host::process().clone());
        Self { worker, inode, device, boot, machine, process }
    }

    /// The liveness that a free lock proves.
    fn liveness(&self, here: &Here) -> Liveness {
        if self.inode.is_none() || self.inode != here.inode {
            return Liveness::Unknown;
        }
        if self.boot.is_some() && self.boot == here.boot {
            // A copy on another file system can have the same inode number. Devices are numbered
            // anew at each boot.
            let is_same = self.device == here.device;
            return if is_same { Liveness::Ended } else { Liveness::Unknown };
        }
        let is_this_machine = match (&self.machine, &here.machine) {
            (Some(then), Some(now)) => then == now,
            _ => self.process.host == here.host,
        };
        if is_this_machine && here.is_local { Liveness::Ended } else { Liveness::Unknown }
    }
}

/// Creates a lock file and locks it, before it gets its name, so that no process sees it unlocked.
pub(crate) fn create(unnamed: &Path, path: &Path, worker: &str) -> io::Result<File> {
    loop {
        let file = File::create_new(unnamed)?;
        match lock(&file, worker).and_then(|()| std::fs::rename(unnamed, path)) {
            Ok(()) => return Ok(file),
            // Another process removed it before it was locked.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A full disk, for example: the next try creates it again.
            Err(error) => {
                let _ = std::fs::remove_file(unnamed);
                return Err(error);
            }
        }
    }
}

/// The reason why a lock file cannot be made, and what to do about it.
pub(crate) fn failure(error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and try again"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "make its folder writable"
        }
        _ => "check its folder and try again",
    };
    format!("{error}; {advice}")
}

fn lock(file: &File, worker: &str) -> io::Result<()> {
    file.lock()?;
    let record = serde_json::to_string(&LockRecord::of(worker, file))?;
    let mut file = file;
    file.write_all(record.as_bytes())
}

/// Checks by its lock file whether the process of this worker is alive.
pub(crate) fn liveness(path: &Path, worker: &str) -> io::Result<Liveness> {
    // Anything else at its path proves nothing, and must not keep an execution from being
    // recovered.
    let Some(file) = host::open_regular(path)? else { return Ok(Liveness::Unknown) };
    // Shared, so that two concurrent checks do not mistake each other for the worker.
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Liveness::Alive),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let text = read(&file)?;
    Ok(match serde_json::from_slice::<LockRecord>(&text) {
        Ok(record) if record.worker == worker => record.liveness(&Here::of(&file)),
        _ => Liveness::Unknown,
    })
}

/// Checks whether a file that never got its name belongs to a process that has ended. Its lock is
/// taken right after it is created, and it is empty until then.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    let Ok(Some(file)) = host::open_regular(path) else { return false };
    let Ok(()) = file.try_lock_shared() else { return false };
    read(&file).is_ok_and(|text| match serde_json::from_slice::<LockRecord>(&text) {
        Ok(record) => record.liveness(&Here::of(&file)) == Liveness::Ended,
        Err(_) => text.is_empty(),
    })
}

/// Longer than any record, in bytes.
const LONGEST: u64 = 64 * 1024;

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
