use std::fmt;

/// The storage below a store could not do its work. Nothing was written, unless it is
/// [`Indeterminate`](Self::Indeterminate).
///
/// ```
/// # fn example(error: machine::store::Unavailable) {
/// if error.is_busy() {
///     println!("another process uses the file; try again");
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error, machine_derive::Class)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum Unavailable {
    /// Another process kept the file locked for longer than the busy timeout.
    #[error("another process has the database locked; nothing was written; try again later")]
    Busy,
    /// The store is closed, but another reader uses an older part of the write-ahead log.
    #[class = "busy"]
    #[error(
        "the store is closed and everything is on disk, but another connection uses the file; \
         copy the file together with its write-ahead log"
    )]
    InUse,
    /// The disk is full.
    #[error("the disk is full; nothing was written; free some space and try again")]
    Full,
    /// The store was closed, or its thread has ended.
    #[error("the store was closed, or its thread has ended; open it again")]
    Stopped,
    /// The store was opened with [`OpenOptions::read_only`](crate::store::OpenOptions::read_only).
    #[error(
        "the store was opened for reading only; nothing was written; open it with \
         `OpenOptions::sqlite` to write"
    )]
    ReadOnly,
    /// The database file or its write-ahead log was moved, deleted or replaced while it was open.
    /// The file that the store has open can no longer be reached by its path, so it is neither read
    /// nor written.
    #[error(
        "the database file or its log was moved, deleted or replaced while it was open, so the \
         store no longer uses it; restart the programs that use it"
    )]
    Moved,
    /// The commit may or may not be durable, for this reason. Commit the same machines again: the
    /// store recognizes a commit that succeeded, and reports success.
    #[error(
        "the commit failed and may or may not be on disk: {0}; repeat the same write to \
         find out: it takes effect once"
    )]
    Indeterminate(String),
    /// Another program changed the format of the file while it was open.
    #[error(
        "another program changed the file to format {found}, but this one supports only \
         format {known}; nothing was written; update this program"
    )]
    Format { found: i64, known: i64 },
    /// The storage failed for another reason.
    #[class = "storage"]
    #[error(
        "the storage failed: {0}; nothing was written; check the disk and \
         that the file still exists, then open the store again"
    )]
    Other(String),
}

impl Unavailable {
    /// Another process uses the file; try again later.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy | Self::InUse)
    }

    pub(crate) fn indeterminate(reason: impl fmt::Display) -> Self {
        Self::Indeterminate(reason.to_string())
    }

    pub(crate) fn other(reason: impl fmt::Display) -> Self {
        Self::Other(reason.to_string())
    }
}
