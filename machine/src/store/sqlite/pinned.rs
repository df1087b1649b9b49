//! A reader that keeps the log from starting again at its beginning.

use std::{collections::BTreeSet, path::Path, sync::Mutex};

use crate::{
    clock::Millis,
    store::{backend::PinnedLog, lock::lock},
};

/// The reader that the last checkpoints have met, if there is one.
#[derive(Debug, Default)]
pub(super) struct Pinned(Mutex<Option<Stall>>);

/// Checkpoints in a row that got no further than one frame.
#[derive(Debug)]
struct Stall {
    done: i32,
    checkpoints: u64,
    /// The processes that were reading at each of them. None if the system does not say.
    pids: BTreeSet<u32>,
    /// When it was first looked at, by the clock of the store, and the number of checkpoints until
    /// then.
    looked_at: Option<(Millis, u64)>,
}

impl Pinned {
    /// Called after a checkpoint, with the number of frames in the log, that of the frames that are
    /// copied, and the number from which on a log is large.
    pub(super) fn note(
        &self,
        (frames, done): (i32, i32),
        large: u64,
        readers: impl FnOnce() -> BTreeSet<u32>,
    ) {
        let mut known = lock(&self.0);
        if frames == done || u64::try_from(frames).unwrap_or(0) < large {
            *known = None;
            return;
        }
        let pids = readers();
        if let Some(stall) = known.as_mut().filter(|stall| stall.done == done) {
            stall.checkpoints += 1;
            let stay = &stall.pids & &pids;
            stall.pids = if stay.is_empty() { pids } else { stay };
        } else {
            *known = Some(Stall { done, checkpoints: 1, pids, looked_at: None });
        }
    }

    /// The reader, with the time of the first look at it, if a later checkpoint has met it, too,
    /// and it still reads.
    pub(super) fn look(
        &self,
        now: Millis,
        readers: impl FnOnce() -> BTreeSet<u32>,
    ) -> Option<PinnedLog> {
        let mut known = lock(&self.0);
        let stall = known.as_mut()?;
        if !stall.pids.is_empty() {
            stall.pids = &stall.pids & &readers();
            if stall.pids.is_empty() {
                // It has ended after the last checkpoint.
                *known = None;
                return None;
            }
        }
        let (since, checkpoints) = *stall.looked_at.get_or_insert((now, stall.checkpoints));
        let is_later = stall.checkpoints > checkpoints;
        is_later.then(|| PinnedLog { since, pids: stall.pids.iter().copied().collect() })
    }
}

/// The processes with a read transaction on a database. `None` where the system does not say.
pub(super) fn readers(path: &Path) -> Option<BTreeSet<u32>> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{major, minor};
        use std::os::unix::fs::MetadataExt;

        // The file is not opened: to close it would release the locks of this process.
        let shared_memory = std::fs::metadata(super::inspect::with_suffix(path, "-shm"));
        if let (Ok(file), Ok(locks)) = (shared_memory, std::fs::read_to_string("/proc/locks")) {
            let (device, inode) = (file.dev(), file.ino());
            let file = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
            return Some(locks.lines().filter_map(|lock| reader(lock, &file)).collect());
        }
    }
    let _ = path;
    None
}

/// The process of a line of `/proc/locks`, if it is a lock of a reader on this file.
#[cfg(target_os = "linux")]
fn reader(lock: &str, file: &str) -> Option<u32> {
    // The bytes by which SQLite's readers say which part of the log they use. The system joins the
    // ranges of a process.
    const MARKS: std::ops::RangeInclusive<u64> = 123..=127;

    let fields: Vec<&str> = lock.split_whitespace().collect();
    let [_, "POSIX", "ADVISORY", "READ", pid, of, first, last] = fields[..] else { return None };
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let is_mark = of == file && first <= *MARKS.end() && last >= *MARKS.start();
    // A process of another container has no number here.
    pid.parse().ok().filter(|pid| is_mark && *pid > 0)
}

#[cfg(test)]
mod tests;
