use std::fmt;

/// The storage below a store could not do its work. Nothing was written, unless
/// [`is_indeterminate`](Self::is_indeterminate).
///
/// ```
/// # fn example(error: machine::store::Unavailable) {
/// if error.is_busy() {
///     println!("another process uses the file; try again");
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Unavailable(UnavailableKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum UnavailableKind {
    Busy,
    InUse,
    Full,
    Stopped,
    ReadOnly,
    Moved,
    Indeterminate(String),
    Format { found: i64, known: i64 },
    Other(String),
}

impl Unavailable {
    /// Another process kept the file locked for longer than the busy timeout.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.0, UnavailableKind::Busy | UnavailableKind::InUse)
    }

    /// The disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0 == UnavailableKind::Full
    }

    /// The store was closed, or its thread has ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0 == UnavailableKind::Stopped
    }

    /// The store was opened with [`OpenOptions::read_only`](crate::store::OpenOptions::read_only).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0 == UnavailableKind::ReadOnly
    }

    /// The database file or its write-ahead log was moved, deleted or replaced while it was open.
    /// The file that the store has open can no longer be reached by its path, so it is neither read
    /// nor written.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        self.0 == UnavailableKind::Moved
    }

    /// The commit may or may not be durable. Commit the same machines again: the store recognizes
    /// the same commit and answers that it has succeeded, if it has.
    #[must_use]
    pub fn is_indeterminate(&self) -> bool {
        matches!(self.0, UnavailableKind::Indeterminate(_))
    }

    /// The class, for `error.type`.
    pub(crate) fn class(&self) -> &'static str {
        match &self.0 {
            UnavailableKind::Busy | UnavailableKind::InUse => "busy",
            UnavailableKind::Full => "full",
            UnavailableKind::Stopped => "stopped",
            UnavailableKind::ReadOnly => "read_only",
            UnavailableKind::Moved => "moved",
            UnavailableKind::Indeterminate(_) => "indeterminate",
            UnavailableKind::Format { .. } => "format",
            UnavailableKind::Other(_) => "storage",
        }
    }

    /// Another file has taken the place of the database, or none.
    pub(crate) fn moved() -> Self {
        Self(UnavailableKind::Moved)
    }

    pub(crate) fn busy() -> Self {
        Self(UnavailableKind::Busy)
    }

    /// The store is closed, but another reader uses an older part of the write-ahead log.
    pub(crate) fn in_use() -> Self {
        Self(UnavailableKind::InUse)
    }

    pub(crate) fn full() -> Self {
        Self(UnavailableKind::Full)
    }

    pub(crate) fn stopped() -> Self {
        Self(UnavailableKind::Stopped)
    }

    pub(crate) fn read_only() -> Self {
        Self(UnavailableKind::ReadOnly)
    }

    pub(crate) fn indeterminate(reason: impl fmt::Display) -> Self {
        Self(UnavailableKind::Indeterminate(reason.to_string()))
    }

    /// Another program changed the format of the file while it was open.
    pub(crate) fn format(found: i64, known: i64) -> Self {
        Self(UnavailableKind::Format { found, known })
    }

    pub(crate) fn other(reason: impl fmt::Display) -> Self {
        Self(UnavailableKind::Other(reason.to_string()))
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            UnavailableKind::Busy => f.write_str(
                "another process has the database locked; nothing was written; try again later",
            ),
            UnavailableKind::InUse => f.write_str(
                "the store is closed and everything is on disk, but another connection uses the file; \
                 copy the file together with its write-ahead log",
            ),
            UnavailableKind::Full => {
                f.write_str("the disk is full; nothing was written; free some space and try again")
            }
            UnavailableKind::Stopped => f.write_str("the store was closed, or its thread has ended; open it again"),
            UnavailableKind::ReadOnly => f.write_str(
                "the store was opened for reading only; nothing was written; open it with \
                 `OpenOptions::sqlite` to write",
            ),
            UnavailableKind::Moved => f.write_str(
                "the database file or its log was moved, deleted or replaced while it was open, so the \
                 store no longer uses it; restart the programs that use it",
            ),
            UnavailableKind::Indeterminate(reason) => write!(
                f,
                "the commit failed and may or may not be on disk: {reason}; repeat the same write to \
                 find out: it takes effect once"
            ),
            UnavailableKind::Format { found, known } => write!(
                f,
                "another program changed the file to format {found}, but this one supports only \
                 format {known}; nothing was written; update this program"
            ),
            UnavailableKind::Other(reason) => {
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
