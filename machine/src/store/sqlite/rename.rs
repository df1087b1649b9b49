use std::{io, path::Path};

/// Renames a file, unless the new name is taken. [`Unsupported`](io::ErrorKind::Unsupported) if the system
/// or the file system cannot do that in one step.
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
