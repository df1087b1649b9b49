use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, wal::CheckpointMode};

use super::{connection::Role, fail::fail_point, failure::sqlite_code, inode::Files};
use crate::telemetry;

/// The size of the log at which the writer waits until it starts again at its beginning, as a
/// multiple of what is between two checkpoints: about 64 MB.
const RESTART: u64 = 16;

/// The longest time that a restart may keep the writer waiting for readers.
const RESTART_WAIT: Duration = Duration::from_millis(100);

const IDLE: Duration = Duration::from_secs(1);

/// Keeps the write-ahead log short, off the commit path.
pub(super) struct Checkpoints {
    path: PathBuf,
    place: Files,
    /// The number of frames in the log after the last commit of the writing connection.
    frames: Arc<AtomicU64>,
    /// The number of frames between two checkpoints. A frame is a page and a header.
    step: u64,
    /// The number of frames at the last request.
    passive_at: u64,
    restart_at: u64,
    shared: Arc<CheckpointState>,
    /// The thread, which ends when its requests are dropped. None before the first one.
    thread: Option<(Sender<Ask>, JoinHandle<()>)>,
}

#[derive(Debug, Default)]
pub(super) struct CheckpointState {
    commits: AtomicU64,
    /// Locked during a checkpoint: while one runs, another cannot begin.
    running: Mutex<()>,
    /// Locked while the thread truncates the log, and has the lock of writers for that.
    pub(super) truncating: Mutex<()>,
    /// True while the thread knows that there is something in the log.
    awake: AtomicBool,
}

impl CheckpointState {
    /// Attempts what needs the lock of writers. If it is locked, perhaps only this store itself has
    /// it, to truncate its log: waits for that, and attempts it again.
    pub(super) fn retry_after_truncation<T>(
        &self,
        mut attempt: impl FnMut() -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        match attempt() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                let _truncating = self.truncating.lock();
                attempt()
            }
            attempted => attempted,
        }
    }
}

enum Ask {
    WatchForIdle,
    Passive,
}

impl Checkpoints {
    pub(super) fn new(path: PathBuf, place: Files, step: u64) -> Self {
        Self {
            path,
            place,
            frames: Arc::default(),
            step,
            passive_at: 0,
            restart_at: RESTART * step,
            shared: Arc::default(),
            thread: None,
        }
    }

    pub(super) fn state(&self) -> Arc<CheckpointState> {
        Arc::clone(&self.shared)
    }

    /// Replaces SQLite's own checkpoints, which happen during a commit, on the writing connection.
    pub(super) fn hook(
        &self,
    ) -> impl Fn(&mut Connection) -> rusqlite::Result<()> + Send + 'static + use<> {
        let frames = Arc::clone(&self.frames);
        move |connection| {
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            let frames = Arc::clone(&frames);
            connection.wal_hook(Some(move |_: &mut _, pages| {
                frames.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
                Ok(())
            }))
        }
    }

    pub(super) fn committed(&mut self, connection: &Connection) {
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        if !self.shared.awake.swap(true, Ordering::AcqRel) {
            self.ask(Ask::WatchForIdle);
        }
        let frames = self.frames.load(Ordering::Relaxed);
        if frames < self.passive_at {
            // The log has started again at its beginning.
            (self.passive_at, self.restart_at) = (0, RESTART * self.step);
        }
        if frames >= self.restart_at {
            // If readers prevent it now, commits continue for a while before the next try.
            self.restart_at = frames + self.step;
            let running = self.shared.running.lock();
            let _ = connection.busy_timeout(RESTART_WAIT);
            run(connection, CheckpointMode::RESTART);
            drop(running);
            let _ = connection.busy_timeout(Duration::ZERO);
        } else if frames >= self.passive_at + self.step {
            self.passive_at = frames;
            self.ask(Ask::Passive);
        }
    }

    fn ask(&mut self, ask: Ask) {
        if self.thread.is_none() {
            let (asks, inbox) = mpsc::channel();
            let (path, place) = (self.path.clone(), self.place);
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("machine-checkpoint".to_owned());
            match thread.spawn(move || serve((&path, place), &shared, &inbox)) {
                Ok(thread) => self.thread = Some((asks, thread)),
                // The writer keeps the log bounded.
                Err(_) => {
                    telemetry::StorageFailed { operation: "checkpoint_thread", status: None }
                        .emit();
                }
            }
        }
        if let Some((asks, _)) = &self.thread {
            let _ = asks.send(ask);
        }
    }

    pub(super) fn stop(&mut self) {
        if let Some((asks, thread)) = self.thread.take() {
            drop(asks);
            let _ = thread.join();
        }
    }
}

fn serve((path, place): (&Path, Files), shared: &CheckpointState, inbox: &Receiver<Ask>) {
    let mut connection = None;
    let mut run_now = |mode| {
        if connection.is_none() {
            match place.open(path, Role::Checkpoint, 0) {
                Ok(opened) => connection = Some(opened),
                Err(_) => {
                    telemetry::StoragePostponed { operation: "checkpoint", status: None }.emit();
                }
            }
        }
        let _running = shared.running.lock();
        connection.as_ref().is_some_and(|connection| run(connection, mode))
    };
    let mut seen = None;
    loop {
        let asked = if shared.awake.load(Ordering::Acquire) {
            inbox.recv_timeout(IDLE)
        } else {
            inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match asked {
            Ok(Ask::WatchForIdle) => {}
            Ok(Ask::Passive) => {
                run_now(CheckpointMode::PASSIVE);
            }
            Err(RecvTimeoutError::Timeout) => {
                let commits = Some(shared.commits.load(Ordering::Relaxed));
                if seen == commits {
                    // Before the checkpoint, so that a commit during it wakes this thread again.
                    shared.awake.store(false, Ordering::Release);
                    // The passive one does the work, and lets commits through meanwhile.
                    let complete = run_now(CheckpointMode::PASSIVE) && {
                        let _truncating = shared.truncating.lock();
                        run_now(CheckpointMode::TRUNCATE)
                    };
                    if !complete {
                        shared.awake.store(true, Ordering::Release);
                    }
                }
                seen = commits;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Returns whether the checkpoint was complete. It is not if a reader still uses an older part of
/// the log.
pub(super) fn run(connection: &Connection, mode: CheckpointMode) -> bool {
    let name = mode as i32;
    fail_point!("store-checkpoint");
    match connection.wal_checkpoint_v2(Some("main"), mode) {
        Ok((frames, done)) => {
            fail_point!("store-checkpointed");
            telemetry::Checkpoint { mode: name, frames, done }.emit();
            frames == done
        }
        Err(error) => {
            let status = sqlite_code(&error);
            telemetry::StoragePostponed { operation: "checkpoint", status }.emit();
            false
        }
    }
}
