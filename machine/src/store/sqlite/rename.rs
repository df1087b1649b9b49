use std::{fs::File, io, path::Path};

/// Renames a file, unless the new name is taken. [`Unsupported`](io::ErrorKind::Unsupported) if the
/// system or the file system cannot do that in one step.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::{
            fs::{CWD, RenameFlags, renameat_with},
            io::Errno,
        };
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
    }
    let _ = (from, to);
    Err(io::ErrorKind::Unsupported.into())
}

/// Makes the new name of a file durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    // Elsewhere, folders cannot be synced.
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
