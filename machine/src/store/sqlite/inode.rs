use std::path::Path;

use super::inspect::wal;

/// Which file a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inode(u64, u64);

impl Inode {
    /// `None` if there is none, or where the system does not tell.
    pub(super) fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;

            let file = std::fs::metadata(path).ok()?;
            Some(Self(file.dev(), file.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            None
        }
    }
}

/// The file and the log that a store has opened. While it has a connection, nothing but a mistake removes the
/// log, and what is written to a removed one is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Files {
    file: Option<Inode>,
    log: Option<Inode>,
}

impl Files {
    /// The files that a path leads to. A connection must have read the file, so that there is a log.
    pub(super) fn at(path: &Path) -> Self {
        Self { file: Inode::of(path), log: Inode::of(&wal(path)) }
    }

    /// Checks whether the path still leads to them. Where the system does not tell, it is assumed to.
    pub(super) fn is_in_place(self, path: &Path) -> bool {
        let is_same = |one: Option<Inode>, path: &Path| one.is_none() || one == Inode::of(path);
        is_same(self.file, path) && is_same(self.log, &wal(path))
    }
}
