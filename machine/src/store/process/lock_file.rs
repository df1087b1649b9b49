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
/// The inode tells a copy from the original. The boot tells whether the lock would have been released by
/// now: within one boot of one kernel the lock alone decides, whatever the host is called. After another boot, the
/// lock is free in any case, and proves the end of the process only if the file has been on this machine
/// all the time.
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
        Self {
            inode: host::inode(file),
            device: host::device(file),
            is_local: host::is_local(file),
            boot: host::boot(),
            machine: host::machine(),
            host: host::name(),
        }
    }
}

impl LockRecord {
    fn of(worker: &str, file: &File) -> Self {
        Self {
            worker: worker.to_owned(),
            inode: host::inode(file),
            device: host::device(file),
            boot: host::boot(),
            machine: host::machine(),
            process: host::process().clone(),
        }
    }

    /// The liveness that a free lock proves.
    fn liveness(&self, here: &Here) -> Liveness {
        if self.inode.is_none() || self.inode != here.inode {
            return Liveness::Unknown;
        }
        if self.boot.is_some() && self.boot == here.boot {
            // A copy on another file system can have the same inode number. Devices are numbered anew at each boot.
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
    // Anything else at its path proves nothing, and must not keep an execution from being recovered.
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

/// Checks whether a file that never got its name belongs to a process that has ended. Its lock is taken
/// right after it is created, and it is empty until then.
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

/// Reads a lock file, up to its maximum size.
fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> LockRecord {
        LockRecord {
            worker: "w".to_owned(),
            inode: Some(17),
            device: Some(1),
            boot: Some("boot-1".to_owned()),
            machine: Some("machine-1".to_owned()),
            process: Process { pid: 1, host: "pod-a".to_owned(), since: 0 },
        }
    }

    fn here() -> Here {
        Here {
            inode: Some(17),
            device: Some(1),
            is_local: true,
            boot: Some("boot-1".to_owned()),
            machine: Some("machine-1".to_owned()),
            host: "pod-a".to_owned(),
        }
    }

    fn named(text: &str) -> String {
        text.to_owned()
    }

    /// A full disk, for example.
    #[test]
    fn a_try_that_failed_does_not_prevent_the_next_one() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let (unnamed, path) = (folder.path().join("lock-new"), folder.path().join("lock"));
        std::fs::create_dir(&path).expect("its name is taken");
        create(&unnamed, &path, "w").expect_err("a file does not replace a folder");
        assert!(!unnamed.exists());

        std::fs::remove_dir(&path).expect("its name is free");
        let _lock = create(&unnamed, &path, "w").expect("it has its name");
        assert_eq!(liveness(&path, "w").expect("it can be read"), Liveness::Alive);
    }

    #[test]
    fn a_failure_says_what_to_do_about_it() {
        for (kind, advice) in [
            (io::ErrorKind::StorageFull, "free some space and try again"),
            (io::ErrorKind::QuotaExceeded, "free some space and try again"),
            (io::ErrorKind::PermissionDenied, "make its folder writable"),
            (io::ErrorKind::ReadOnlyFilesystem, "make its folder writable"),
            (io::ErrorKind::NotFound, "check its folder and try again"),
        ] {
            let failure = failure(&kind.into());
            assert_eq!(failure, format!("{}; {advice}", io::Error::from(kind)));
        }
    }

    /// A free lock, in each place where it can be found.
    #[test]
    fn a_free_lock_proves_the_end_only_where_it_was_taken() {
        use Liveness::{Ended, Unknown};

        let reboot = || Here { boot: Some(named("boot-2")), ..here() };
        let table = [
            ("the same host", here(), Ended),
            ("a new pod on the same kernel", Here { host: "pod-b".to_owned(), ..here() }, Ended),
            (
                "a new pod with a machine id of its own",
                Here { host: "pod-b".to_owned(), machine: Some(named("machine-2")), ..here() },
                Ended,
            ),
            ("the same kernel, network file system", Here { is_local: false, ..here() }, Ended),
            ("a copy", Here { inode: Some(18), ..here() }, Unknown),
            ("a copy on another file system", Here { device: Some(2), ..here() }, Unknown),
            ("a copy after a reboot", Here { inode: Some(18), ..reboot() }, Unknown),
            ("a system without inodes", Here { inode: None, ..here() }, Unknown),
            ("a reboot", reboot(), Ended),
            (
                "a reboot, and another host name",
                Here { host: "renamed".to_owned(), ..reboot() },
                Ended,
            ),
            ("a reboot, network file system", Here { is_local: false, ..reboot() }, Unknown),
            ("another machine", Here { machine: Some(named("machine-2")), ..reboot() }, Unknown),
            ("a system without boot ids", Here { boot: None, ..here() }, Ended),
            (
                "another host, without machine ids",
                Here { machine: None, host: "b".to_owned(), ..reboot() },
                Unknown,
            ),
            ("the same host, without machine ids", Here { machine: None, ..reboot() }, Ended),
        ];
        for (place, here, expected) in table {
            assert_eq!(record().liveness(&here), expected, "{place}");
        }
        // Two systems without boot ids are not the same boot.
        let unknown = LockRecord { boot: None, machine: None, ..record() };
        let elsewhere =
            Here { boot: None, machine: None, host: "b".to_owned(), is_local: true, ..here() };
        assert_eq!(unknown.liveness(&elsewhere), Unknown);
    }
}
