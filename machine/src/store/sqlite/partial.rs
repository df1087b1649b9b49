//! A file that gets its name when it is complete and on disk.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};

use super::{
    inspect::{wal, with_suffix},
    rename::{rename_new, sync_folder},
};
use crate::{id::Id, store::upkeep::backup::BackupError};

/// The copy while it is made, `NAME-backup-ID.partial`. It is removed unless it was finished or the
/// process is killed.
#[derive(Debug)]
pub(super) struct Partial {
    target: PathBuf,
    copy: PathBuf,
}

impl Partial {
    /// Refuses a name that is taken, and begins.
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
        let copy = with_suffix(&target, &format!("-backup-{}.partial", Id::fresh()));
        Ok(Self { target, copy })
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
        // After `finish`, the copy is no longer there.
        let _ = fs::remove_file(wal(&self.copy));
        let _ = fs::remove_file(&self.copy);
    }
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
