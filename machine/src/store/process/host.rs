//! The host and the process, as far as lock files need to know them.

use std::{
    fs::{File, Metadata},
    io,
    path::Path,
    sync::OnceLock,
};

use crate::process::Process;

pub(crate) fn process() -> &'static Process {
    static PROCESS: OnceLock<Process> = OnceLock::new();
    PROCESS.get_or_init(|| Process {
        pid: std::process::id(),
        host: name(),
        since: crate::clock::now(),
    })
}

pub(crate) fn name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name
}

/// The id of this boot of the kernel, where the system has one. Containers share that of their
/// host.
pub(crate) fn boot() -> Option<String> {
    id_in("/proc/sys/kernel/random/boot_id")
}

/// The id of this machine, where the system has one.
pub(crate) fn machine() -> Option<String> {
    id_in("/etc/machine-id")
}

fn id_in(path: &str) -> Option<String> {
    let id = std::fs::read_to_string(path).ok()?.trim().to_owned();
    Some(id).filter(|id| !id.is_empty())
}

/// The number of the device of a file, which is the same until the next boot, and that of the
/// inode, of which a copy has a different one. `None` where the system has none.
#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "other systems have none"))]
pub(crate) fn place(file: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        Some((file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Opens a file for reading, if it is a regular one and not a link to another. It does not wait for
/// a pipe. `None` for what is something else, or cannot be opened by this user.
///
/// # Errors
///
/// The error of the system, if it can open nothing now, such as for a lack of descriptors.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    }
    match options.open(path) {
        Ok(file) => Ok(file.metadata()?.is_file().then_some(file)),
        Err(error) if may_pass(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns `true` if this failure says nothing about the file.
fn may_pass(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;

        let errno = Errno::from_io_error(error);
        errno.is_some_and(|it| {
            [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO, Errno::INTR].contains(&it)
        })
    }
    #[cfg(not(unix))]
    {
        matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted)
    }
}

/// The file systems of Linux that are on a device of this machine, by their numbers: ext, XFS,
/// Btrfs, ZFS, Bcachefs, F2FS, JFS, tmpfs and overlays.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LOCAL: [i64; 9] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0x2FC1_2FC1,
    0xCA45_1A4E,
    0xF2F5_2010,
    0x3153_464A,
    0x0102_1994,
    0x794C_7630,
];

/// Returns `true` if a file is for certain on a file system of this machine alone.
pub(crate) fn is_local(file: &File) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let is_local = rustix::fs::fstatfs(file).is_ok_and(|system| {
        #[allow(clippy::useless_conversion, reason = "its type differs between architectures")]
        let number = i64::try_from(system.f_type);
        number.is_ok_and(|number| LOCAL.contains(&number))
    });
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let is_local = {
        let _ = file;
        false
    };
    is_local
}
