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
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// Another process kept the file locked for longer than the busy timeout.
    Busy,
    /// The store is closed, but another reader uses an older part of the write-ahead log.
    InUse,
    /// The disk is full.
    Full,
    /// The store was closed, or its thread has ended.
    Stopped,
    /// The store was opened with [`OpenOptions::read_only`](crate::store::OpenOptions::read_only).
    ReadOnly,
    /// The database file or its write-ahead log was moved, deleted or replaced while it was open.
    /// The file that the store has open can no longer be reached by its path, so it is neither read
    /// nor written.
    Moved,
    /// The commit may or may not be durable, for this reason. Commit the same machines again: the
    /// store recognizes the same commit and answers that it has succeeded, if it has.
    Indeterminate(String),
    /// Another program changed the format of the file while it was open.
    Format {
        /// The format of the file.
        found: i64,
        /// The format of this program.
        known: i64,
    },
    /// The storage failed for another reason.
    Other(String),
}

impl Unavailable {
    /// Another process uses the file; try again later.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy | Self::InUse)
    }

    /// The class, for `error.type`.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Busy | Self::InUse => "busy",
            Self::Full => "full",
            Self::Stopped => "stopped",
            Self::ReadOnly => "read_only",
            Self::Moved => "moved",
            Self::Indeterminate(_) => "indeterminate",
            Self::Format { .. } => "format",
            Self::Other(_) => "storage",
        }
    }

    pub(crate) fn indeterminate(reason: impl fmt::Display) -> Self {
        Self::Indeterminate(reason.to_string())
    }

    pub(crate) fn other(reason: impl fmt::Display) -> Self {
        Self::Other(reason.to_string())
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str(
                "another process has the database locked; nothing was written; try again later",
            ),
            Self::InUse => f.write_str(
                "the store is closed and everything is on disk, but another connection uses the file; \
                 copy the file together with its write-ahead log",
            ),
            Self::Full => {
                f.write_str("the disk is full; nothing was written; free some space and try again")
            }
            Self::Stopped => f.write_str("the store was closed, or its thread has ended; open it again"),
            Self::ReadOnly => f.write_str(
                "the store was opened for reading only; nothing was written; open it with \
                 `OpenOptions::sqlite` to write",
            ),
            Self::Moved => f.write_str(
                "the database file or its log was moved, deleted or replaced while it was open, so the \
                 store no longer uses it; restart the programs that use it",
            ),
            Self::Indeterminate(reason) => write!(
                f,
                "the commit failed and may or may not be on disk: {reason}; repeat the same write to \
                 find out: it takes effect once"
            ),
            Self::Format { found, known } => write!(
                f,
                "another program changed the file to format {found}, but this one supports only \
                 format {known}; nothing was written; update this program"
            ),
            Self::Other(reason) => {
                write!(
                    f,
                    "the storage failed: {reason}; nothing was written; check the disk and \
                     that the file still exists, then open the store again"
                )
            }
        }
    }
}

impl std::error::Error for Unavailable {}
