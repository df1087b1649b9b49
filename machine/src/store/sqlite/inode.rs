use std::path::Path;

use rusqlite::Connection;

use super::{
    connection::{self, Role},
    inspect::wal,
};
use crate::store::{
    error::{OpenError, Unavailable},
    process::host,
};

/// The device and the number of a file.
pub(super) type Inode = (u64, u64);

/// Which file a path leads to. `None` if it does not exist, or where the system has no inodes.
pub(super) fn inode(path: &Path) -> Option<Inode> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};

        // Not its times: Linux gives the next write a time of its own after a look at them, and the
        // commit has to write the inode, too.
        if let Ok(file) = statx(CWD, path, AtFlags::empty(), StatxFlags::INO) {
            return Some((makedev(file.stx_dev_major, file.stx_dev_minor), file.stx_ino));
        }
    }
    host::place(&std::fs::metadata(path).ok()?)
}

/// The file and the log that a store has opened; no log if it only reads. While it has a
/// connection, nothing but a mistake removes the log, and what is written to a removed one is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) file: Option<Inode>,
    log: Option<Inode>,
}

impl Files {
    /// The files that a path leads to. A connection must have read the file, so that there is a
    /// log.
    pub(super) fn at(path: &Path) -> Self {
        Self { file: inode(path), log: inode(&wal(path)) }
    }

    /// The file that a path leads to, whatever its log is.
    pub(super) fn without_log(path: &Path) -> Self {
        Self { file: inode(path), log: None }
    }

    /// Checks whether the path still leads to them. Where the system does not tell, it is assumed
    /// to.
    pub(super) fn is_in_place(self, path: &Path) -> bool {
        let is_same = |one: Option<Inode>, path: &Path| one.is_none() || one == inode(path);
        is_same(self.file, path) && is_same(self.log, &wal(path))
    }

    /// Opens another connection to them. Without this check it would use the log that has the name
    /// while they are away, or make one, and keep it when they are back.
    pub(super) fn open(
        self,
        path: &Path,
        role: Role,
        busy_ms: u64,
    ) -> Result<Connection, OpenError> {
        let check = || {
            if self.is_in_place(path) { Ok(()) } else { Err(Unavailable::Moved) }
        };
        // Before, so that no log is made, and after, because they may be moved at any time.
        check()?;
        let connection = connection::open(path, role, busy_ms)?;
        check()?;
        Ok(connection)
    }
}
