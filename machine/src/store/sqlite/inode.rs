use std::path::Path;

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
