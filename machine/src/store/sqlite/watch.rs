use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;

use super::connection::{self, Role};
use crate::store::{backend::Doorbell, telemetry};

/// How often other processes' commits are looked for without a sign of them.
const SWEEP: Duration = Duration::from_secs(1);

/// How soon after a write the first look follows; the next ones take twice as long each.
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// Those who want to know about commits.
#[derive(Default)]
pub(super) struct Doorbells(Mutex<Vec<Doorbell>>);

impl Doorbells {
    pub(super) fn add(&self, doorbell: Doorbell) {
        // Poisoning is harmless: the list is changed in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(doorbell);
    }

    pub(super) fn ring(&self) {
        // Not under the lock: a doorbell may add another one.
        let doorbells = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for doorbell in doorbells {
            if catch_unwind(AssertUnwindSafe(|| doorbell())).is_err() {
                telemetry::StorageFailed { operation: "doorbell", status: None }.emit();
            }
        }
    }

    pub(super) fn clear(&self) {
        let doorbells = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
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
    path: PathBuf,
    busy_ms: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Running(SyncSender<Sign>, JoinHandle<()>),
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Something was written to the log; perhaps its commit is not visible yet.
    Written,
    Stop,
}

impl Watch {
    pub(super) fn new(path: PathBuf, busy_ms: u64) -> Self {
        Self { path, busy_ms, state: Mutex::default() }
    }

    pub(super) fn start(&self, doorbells: &Arc<Doorbells>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, State::Idle) {
            return;
        }
        // Not one sign per write: while one waits, more of them say nothing new.
        let (sender, signs) = mpsc::sync_channel(1);
        let (path, busy_ms, doorbells) = (self.path.clone(), self.busy_ms, Arc::clone(doorbells));
        let writes = sender.clone();
        let thread = std::thread::Builder::new().name("machine-watch".to_owned());
        let spawned = thread.spawn(move || {
            // Before the first look, so that nothing is missed between the two.
            let watcher = notifier::start(&path, move || {
                let _ = writes.try_send(Sign::Written);
            });
            serve(&path, busy_ms, &signs, &doorbells);
            drop(watcher);
        });
        match spawned {
            Ok(thread) => *state = State::Running(sender, thread),
            Err(_) => telemetry::StorageFailed { operation: "watch_thread", status: None }.emit(),
        }
    }

    /// Ends the thread and closes its connection.
    pub(super) fn stop(&self) {
        let state = std::mem::replace(
            &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner),
            State::Closed,
        );
        if let State::Running(signs, thread) = state {
            let _ = signs.send(Sign::Stop);
            let _ = thread.join();
        }
    }
}

fn serve(path: &Path, busy_ms: u64, signs: &Receiver<Sign>, doorbells: &Doorbells) {
    let mut connection = None;
    let mut seen = None;
    let mut wait = Duration::ZERO;
    loop {
        let written = match signs.recv_timeout(wait) {
            Ok(Sign::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Sign::Written) => true,
            Err(RecvTimeoutError::Timeout) => false,
        };
        let found = version(&mut connection, path, busy_ms);
        if found.is_none() || found != seen {
            // The first look has nothing to compare with, and one that failed might have missed one.
            doorbells.ring();
            seen = found;
        }
        // A commit is visible after its fsync, and that is after it was written.
        wait = if found.is_none() {
            SWEEP
        } else if written {
            FIRST_LOOK
        } else {
            (wait * 2).clamp(FIRST_LOOK, SWEEP)
        };
    }
}

/// Changes with each commit of any other connection.
fn version(connection: &mut Option<Connection>, path: &Path, busy_ms: u64) -> Option<i64> {
    if connection.is_none() {
        *connection = connection::open(path, Role::Reader, busy_ms)
            .inspect_err(|_| {
                telemetry::StoragePostponed { operation: "watch", status: None }.emit();
            })
            .ok();
    }
    let read = connection.as_ref()?.prepare_cached("PRAGMA data_version");
    let read = read.and_then(|mut pragma| pragma.query_row([], |row| row.get(0)));
    match read {
        Ok(version) => Some(version),
        Err(error) => {
            let status = telemetry::sqlite_code(&error);
            telemetry::StoragePostponed { operation: "watch", status }.emit();
            *connection = None;
            None
        }
    }
}

/// Tells about writes to the log at once, where the system can do that without opening the file.
mod notifier {
    use std::path::Path;

    use crate::store::telemetry;

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", windows))]
    pub(super) fn start(path: &Path, ring: impl Fn() + Send + 'static) -> Option<impl Sized> {
        use notify::{RecursiveMode, Watcher};

        let on_event = move |event: notify::Result<notify::Event>| {
            // Reads are no news, and an error is looked into.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                ring();
            }
        };
        let started = notify::recommended_watcher(on_event).and_then(|mut watcher| {
            watcher.watch(&super::super::inspect::wal(path), RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        // Without it, the sweep finds commits.
        let missing = |_: &notify::Error| {
            telemetry::StoragePostponed { operation: "file_events", status: None }.emit();
        };
        started.inspect_err(missing).ok()
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", windows)))]
    pub(super) fn start(_: &Path, _: impl Fn() + Send + 'static) -> Option<()> {
        None
    }
}
