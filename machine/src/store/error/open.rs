use std::path::PathBuf;

use crate::store::{error::Unavailable, integrity::check::Check};

/// Why a store could not be opened. Nothing in the file was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum OpenError {
    /// The file cannot be opened or created.
    #[error("cannot open {path}: {reason}")]
    CannotOpen { path: PathBuf, reason: String },
    /// The file is not a SQLite database.
    #[error("{path} is not a database; use another file, or move this one away")]
    NotADatabase { path: PathBuf },
    /// The file is a database of this library, but it is corrupt.
    #[error("{path} is damaged; restore it from a backup")]
    Damaged { path: PathBuf },
    /// A row was added to the table that identifies the store.
    #[error(
        "the table `store` of {path} has more than one row, so its identity is ambiguous; delete \
         the rows that were added, or restore the file from a backup"
    )]
    TwoIdentities { path: PathBuf },
    /// The file is a database of another program.
    #[error("{path} is the database of another program; use another file")]
    OtherProgram { path: PathBuf },
    /// The file was written by an older version of this library, in an unsupported format.
    #[error(
        "{path} has format {found}, but this program supports only format {known}; use the older \
         program that wrote it"
    )]
    TooOld { path: PathBuf, found: i64, known: i64 },
    /// The file does not exist or is empty, but the log of a database of that name exists.
    #[error(
        "{path} does not exist, but its log {other} does: was the database moved without it? Put the \
         database back, or move the log away"
    )]
    Leftover { path: PathBuf, other: PathBuf },
    /// The file was created with another key of digests or without one, or the identity of the
    /// store was changed.
    #[error(
        "{path} was created with another key or without one, or its identity was changed; \
         open it with its original key, or restore it from a backup"
    )]
    OtherKey { path: PathBuf },
    /// The file has machines that this program cannot read.
    #[error("{path} has machines that this program cannot read; nothing was changed\n{check}")]
    Incompatible { path: PathBuf, check: Box<Check> },
    /// The file was written by a newer version of this library.
    #[error(
        "{path} has format {found}, but this program supports formats up to {known}; use the newer \
         program that wrote it"
    )]
    TooNew { path: PathBuf, found: i64, known: i64 },
    /// The file or its folder is not writable.
    #[error("{path} is not writable; make the file and its folder writable")]
    ReadOnly { path: PathBuf },
    /// The file has more than one name on disk. SQLite would keep a write-ahead log for each.
    #[error("{path} has {links} hard links; remove all but one, or copy the file")]
    HardLinked { path: PathBuf, links: u64 },
    /// SQLite cannot provide the durability that the guarantees require.
    #[error("{path} cannot be made durable: {setting} is {found}; use a local file system")]
    NotDurable { path: PathBuf, setting: &'static str, found: String },
    /// Another process has the file locked, the disk is full, or the storage failed.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}
