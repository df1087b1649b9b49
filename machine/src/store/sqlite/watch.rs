use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;

use super::{
    cached::Cached,
    failure::sqlite_code,
    inode::{Files, inode},
    observed::Stamp,
    readers::Source,
};
use crate::{
    store::{backend::DoorbellFn, lock::lock},
    telemetry,
};

/// The interval of checks for other processes' commits without a sign of them.
const SWEEP: Duration = Duration::from_secs(1);

/// The delay of the first check after a write; each further delay is twice as long.
const FIRST_LOOK: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct Doorbells(Mutex<Vec<DoorbellFn>>);

impl Doorbells {
    pub(super) fn ring(&self) {
        // Not under the lock: a doorbell may add another one.
        let doorbells = lock(&self.0).clone();
        for doorbell in doorbells {
            if catch_unwind(AssertUnwindSafe(|| doorbell())).is_err() {
                telemetry::StorageFailed { operation: "doorbell", status: None }.emit();
            }
        }
    }

    pub(super) fn clear(&self) {
        let doorbells = std::mem::take(&mut *lock(&self.0));
        drop(doorbells);
    }
}

impl fmt::Debug for Doorbells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Doorbells")
    }
}

/// A thread that notices commits of other processes. It starts with the first doorbell.
#[derive(Debug)]
pub(super) struct Watch {
    source: Source,
    pub(super) doorbells: Arc<Doorbells>,
    stopping: Arc<AtomicBool>,
    state: Mutex<Watching>,
}

#[derive(Debug, Default)]
enum Watching {
    #[default]
    Idle,
    Running(SyncSender<Sign>, JoinHandle<()>),
    Closed,
}

/// Something was written to the log; perhaps its commit is not visible yet. Or the thread has to
/// stop.
#[derive(Debug, Clone, Copy)]
struct Sign;

impl Watch {
    pub(super) fn new(source: Source) -> Self {
        let (doorbells, stopping) = Default::default();
        Self { source, doorbells, stopping, state: Mutex::default() }
    }

    pub(super) fn on_commit(&self, doorbell: DoorbellFn) {
        lock(&self.doorbells.0).push(doorbell);
        let mut state = lock(&self.state);
        if !matches!(*state, Watching::Idle) {
            return;
        }
        // Not one sign per write: while one waits, more of them say nothing new.
        let (sender, signs) = mpsc::sync_channel(1);
        let (source, doorbells) = (self.source.clone(), Arc::clone(&self.doorbells));
        let (writes, stopping) = (sender.clone(), Arc::clone(&self.stopping));
        let thread = std::thread::Builder::new().name("machine-watch".to_owned());
        let spawned = thread.spawn(move || {
            // Before the first look, so that nothing is missed between the two.
            let watcher = notifier::start(&source, move || {
                let _ = writes.try_send(Sign);
            });
            serve(&mut Eye { source, connection: None }, &stopping, &signs, &doorbells);
            drop(watcher);
        });
        match spawned {
            Ok(thread) => *state = Watching::Running(sender, thread),
            Err(_) => telemetry::StorageFailed { operation: "watch_thread", status: None }.emit(),
        }
    }

    /// Lets the thread end. The returned handle is done when it has closed its connection.
    pub(super) fn stop(&self) -> Option<JoinHandle<()>> {
        let state = std::mem::replace(&mut *lock(&self.state), Watching::Closed);
        let Watching::Running(signs, thread) = state else { return None };
        self.stopping.store(true, Ordering::Release);
        // If the channel is full, the pending signal wakes the thread as well.
        let _ = signs.try_send(Sign);
        Some(thread)
    }
}

fn serve(eye: &mut Eye, stopping: &AtomicBool, signs: &Receiver<Sign>, doorbells: &Doorbells) {
    let mut seen = None;
    let mut wait = Duration::ZERO;
    loop {
        let written = match signs.recv_timeout(wait) {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(Sign) => true,
            Err(RecvTimeoutError::Timeout) => false,
        };
        if stopping.load(Ordering::Acquire) {
            return;
        }
        let found = eye.version();
        let failed = found.is_none();
        if failed || found != seen {
            // The first look has nothing to compare with, and one that failed might have missed
            // one.
            doorbells.ring();
            seen = found;
        }
        // A commit is visible after its fsync, and that is after it was written.
        wait = if failed {
            SWEEP
        } else if written {
            FIRST_LOOK
        } else {
            (wait * 2).clamp(FIRST_LOOK, SWEEP)
        };
    }
}

struct Eye {
    source: Source,
    connection: Option<Connection>,
}

/// Changes with each commit of any other connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Version {
    /// Of a file with a log, as this connection counts.
    Counted(i64),
    /// Of a file that no process has open for writing.
    AtRest(Stamp),
}

impl Eye {
    /// `None` if the version cannot be read. The next read then reports why.
    fn version(&mut self) -> Option<Version> {
        let failed = |status| telemetry::StoragePostponed { operation: "watch", status }.emit();
        let Self { source, connection } = self;
        let file = source.place.file;
        if file.is_some() && file != inode(&source.path) {
            // A read-only store may find the same store at this path again.
            if !source.observes {
                failed(None);
                return None;
            }
            *connection = None;
        }
        if connection.is_none() && source.observes {
            // Opening it is not needed to see that nothing happens.
            match Stamp::of(&source.path) {
                Ok(Some(stamp)) => return Some(Version::AtRest(stamp)),
                Ok(None) => {}
                Err(_) => {
                    failed(None);
                    return None;
                }
            }
        }
        if connection.is_none() {
            if source.observes {
                source.place = Files::without_log(&source.path);
            }
            let opened = source.open().inspect_err(|_| failed(None)).ok();
            // Without a stamp, it sees what others commit.
            *connection = opened.filter(|(_, stamp)| stamp.is_none()).map(|(opened, _)| opened);
        }
        match connection.as_ref()?.get("PRAGMA data_version", [], |row| row.get(0)) {
            Ok(version) => Some(Version::Counted(version)),
            Err(error) => {
                failed(sqlite_code(&error));
                *connection = None;
                None
            }
        }
    }
}

/// Tells about writes to the log at once, where the system can do that without opening the file.
mod notifier {
    use super::{super::inspect::wal, Source};

    use crate::telemetry;

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", windows))]
    pub(super) fn start<F: Fn() + Send + 'static>(
        source: &Source,
        ring: F,
    ) -> Option<impl Sized + use<F>> {
        use notify::{RecursiveMode, Watcher};

        let (path, log) = (source.path.clone(), wal(&source.path));
        // The log of a file that is only read comes and goes with those who write.
        let folder = path.parent().filter(|_| source.observes);
        let watched = folder.map_or_else(|| log.clone(), ToOwned::to_owned);
        let is_filtered = folder.is_some();
        let on_event = move |event: notify::Result<notify::Event>| {
            let concerns = |event: &notify::Event| {
                !is_filtered || event.paths.iter().any(|it| *it == path || *it == log)
            };
            // Reads change nothing, and an error is examined.
            if event.is_ok_and(|event| !event.kind.is_access() && concerns(&event)) {
                ring();
            }
        };
        let started = notify::recommended_watcher(on_event).and_then(|mut watcher| {
            watcher.watch(&watched, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        // Without it, the sweep finds commits.
        let missing = |_: &notify::Error| {
            telemetry::StoragePostponed { operation: "file_events", status: None }.emit();
        };
        started.inspect_err(missing).ok()
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", windows)))]
    pub(super) fn start(_: &Source, _: impl Fn() + Send + 'static) -> Option<()> {
        None
    }
}
