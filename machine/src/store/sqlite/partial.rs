//! A file that gets its name when it is complete and on disk.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};

use super::{
    inspect::{wal, with_suffix},
    rename::{rename_new, sync_folder},
};
use crate::{id::Id, store::upkeep::backup::BackupError};

/// The copy while it is made. Next to it is a file that this process keeps locked, so that others
/// see whether it is still being made. It is removed unless it was finished.
///
/// Lock files: `NAME-backup-ID.lock`; copies: `NAME-backup-ID.partial`. The lock file is there
/// before the copy, and is removed after it.
#[derive(Debug)]
pub(super) struct Partial {
    target: PathBuf,
    copy: PathBuf,
    lock: PathBuf,
    _locked: File,
}

/// The content of a lock file, so that no other file is taken for one.
const LINE: &str = "machine backup\n";

impl Partial {
    /// Refuses a name that is taken, removes what killed processes left of earlier tries, and
    /// begins.
    pub(super) fn create(to: &Path) -> Result<Self, BackupError> {
        let says = |error: &io::Error| unwritten(to, error);
        if to == Path::new(":memory:") {
            // SQLite, and so every program that would open the copy, takes this for no file at all.
            return Err(cannot_write(to, "the name denotes an in-memory store; give another one"));
        }
        let absolute = std::path::absolute(to).map_err(|error| says(&error))?;
        let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(cannot_write(to, "give the path of a file"));
        };
        let folder = fs::canonicalize(folder).map_err(|error| says(&error))?;
        let target = folder.join(name);
        refuse_reserved(&target)?;
        refuse_taken(&target)?;
        sweep(&folder, name);
        let id = Id::fresh();
        let (copy, lock) = (path_of(&target, id, COPY), path_of(&target, id, LOCK));
        let mut locked = File::create_new(&lock).map_err(|error| says(&error))?;
        let begun = locked.lock().and_then(|()| locked.write_all(LINE.as_bytes()));
        let this = Self { target, copy, lock, _locked: locked };
        begun.map_err(|error| says(&error))?;
        Ok(this)
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// A connection that writes the copy. Only this process knows the file, and it is worthless
    /// until it is complete: no journal, and one sync at the end.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.copy, flags)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;",
        )?;
        Ok(connection)
    }

    pub(super) fn empty(&self) -> Result<(), BackupError> {
        fs::remove_file(&self.copy).map_err(|error| unwritten(&self.target, &error))
    }

    /// Syncs the copy and gives it its name. Every connection to it is closed.
    pub(super) fn finish(self) -> Result<(), BackupError> {
        let says = |error: &io::Error| unwritten(&self.target, error);
        // Not read-only: some systems sync only files that are open for writing.
        let file = File::options().read(true).write(true).open(&self.copy);
        // Closed before the file has its name: closing it later would drop the locks of this
        // process.
        file.and_then(|file| file.sync_all()).map_err(|error| says(&error))?;
        refuse_taken(&self.target)?;
        rename(&self.copy, &self.target).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => BackupError::Exists { path: self.target.clone() },
            _ => says(&error),
        })?;
        sync_folder(&self.target).map_err(|error| says(&error))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After `finish`, the copy is no longer there. What cannot be removed, the next backup
        // removes.
        let _ = fs::remove_file(wal(&self.copy));
        let _ = fs::remove_file(&self.copy);
        let _ = fs::remove_file(&self.lock);
    }
}

const COPY: &str = "partial";
const LOCK: &str = "lock";

fn path_of(target: &Path, id: Id, suffix: &str) -> PathBuf {
    with_suffix(target, &format!("-backup-{id}.{suffix}"))
}

/// A copy with such a name would be taken for a part of another database, and overwritten or
/// deleted.
fn refuse_reserved(target: &Path) -> Result<(), BackupError> {
    let name = target.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    if ["-wal", "-journal", "-shm"].iter().any(|suffix| name.ends_with(suffix.as_bytes())) {
        let reason = "SQLite uses its suffix for its own files; choose a name that does not end in \
                      -wal, -journal or -shm";
        return Err(cannot_write(target, reason));
    }
    Ok(())
}

fn refuse_taken(target: &Path) -> Result<(), BackupError> {
    // A link that leads nowhere is a file as well.
    if fs::symlink_metadata(target).is_ok() {
        return Err(BackupError::Exists { path: target.to_owned() });
    }
    for suffix in ["-wal", "-journal"] {
        let other = with_suffix(target, suffix);
        if fs::symlink_metadata(&other).is_ok() {
            let other = other.display();
            let reason = format!(
                "SQLite would read {other} as its log: was a database moved without it? Choose another \
                 name, or move the log away"
            );
            return Err(cannot_write(target, reason));
        }
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match rename_new(from, to) {
        // Two backups to one name at the same moment could replace each other here.
        Err(error) if error.kind() == ErrorKind::Unsupported => fs::rename(from, to),
        renamed => renamed,
    }
}

/// Removes what killed processes left. Errors are harmless: the files stay.
fn sweep(folder: &Path, name: &OsStr) {
    let Ok(files) = folder.read_dir() else { return };
    for file in files.flatten().filter(|file| file.file_type().is_ok_and(|it| it.is_file())) {
        let Some(id) = id_of(&file.file_name(), name) else { continue };
        if was_left(&file.path()) {
            let target = folder.join(name);
            let copy = path_of(&target, id, COPY);
            let _ = fs::remove_file(wal(&copy));
            let _ = fs::remove_file(copy);
            let _ = fs::remove_file(path_of(&target, id, LOCK));
        }
    }
}

/// The id in the name of a lock file of this target.
fn id_of(file: &OsString, target: &OsStr) -> Option<Id> {
    let name = file.to_str()?.strip_prefix(target.to_str()?)?;
    name.strip_prefix("-backup-")?.strip_suffix(".lock")?.parse().ok()
}

/// Checks whether a file is a lock file of ours, and is not held. One that was not yet written may
/// be about to be locked.
fn was_left(lock: &Path) -> bool {
    let Ok(mut file) = File::open(lock) else { return false };
    let mut text = String::new();
    file.try_lock().is_ok() && file.read_to_string(&mut text).is_ok() && text == LINE
}

fn cannot_write(path: &Path, reason: impl Into<String>) -> BackupError {
    BackupError::CannotWrite { path: path.to_owned(), reason: reason.into() }
}

fn unwritten(path: &Path, error: &io::Error) -> BackupError {
    let next = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            return BackupError::Full { path: path.to_owned() };
        }
        ErrorKind::NotFound => "check that its folder exists",
        _ => "check the disk and the permissions of its folder",
    };
    cannot_write(path, format!("{error}; {next}"))
}
