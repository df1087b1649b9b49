use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use async_channel::TryRecvError;
use futures_channel::oneshot;
use rusqlite::wal::CheckpointMode;

use super::{
    checkpoint::{self, Checkpoints},
    fail::fail_point,
    group::{Group, WriteOutcome},
    inbox::Inbox,
    readers::Readers,
    watch::Watch,
};
use crate::{
    store::{backend::WriteBatch, error::Unavailable},
    telemetry,
};

/// The maximum number of batches in one transaction, and the amount of text after which it takes no
/// more.
const MOST_JOBS: usize = 256;
const MOST_TEXT: usize = 1024 * 1024;

/// The time that the thread polls for another job before it writes those that it has.
const AWAKE: Duration = Duration::from_micros(50);

/// The longest time that closing waits until the log can be folded into the file. Without that, the
/// log is larger, and nothing is lost.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

/// A batch to write, and who waits for it.
#[derive(Debug)]
pub(super) struct WriteJob {
    pub(super) batch: WriteBatch,
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<WriteOutcome>,
}

impl WriteJob {
    fn text(&self) -> usize {
        let text = |text: Option<&str>| text.map_or(0, str::len);
        let lines = |lines: &[crate::journal::Line]| {
            lines.iter().map(|line| text(line.body.as_deref())).sum::<usize>()
        };
        let row = |row: &crate::store::backend::Row| {
            row.state.len() + row.summary.len() + text(row.context.as_deref())
        };
        let writes = self.batch.writes.iter().map(|write| row(&write.row) + lines(&write.lines));
        let records = self.batch.records.iter().map(|record| record.body.len());
        writes.chain(records).sum()
    }
}

/// The thread that writes. It also closes the store, because it ends last.
pub(super) struct Writer {
    pub(super) inbox: Inbox<WriteJob>,
    pub(super) group: Group,
    pub(super) busy_ms: u64,
    pub(super) checkpoints: Checkpoints,
    pub(super) readers: Arc<Readers>,
    pub(super) watch: Arc<Watch>,
}

impl Writer {
    pub(super) fn run(mut self) -> Result<(), Unavailable> {
        let served = catch_unwind(AssertUnwindSafe(|| self.serve()));
        if served.is_err() {
            telemetry::StorageFailed { operation: "writer_thread", status: None }.emit();
        }
        let closed = catch_unwind(AssertUnwindSafe(|| self.close()));
        match (served, closed) {
            (Ok(()), Ok(result)) => result,
            _ => Err(Unavailable::Stopped),
        }
    }

    /// Until the queue is closed and empty.
    fn serve(&mut self) {
        let mut jobs = Vec::new();
        let mut last = 0;
        while self.fill(&mut jobs, last) {
            last = jobs.len();
            let waiting: Vec<_> = jobs.iter().map(|job| (&job.batch, job.since)).collect();
            let run = self.group.run(&waiting);
            let began = run.is_ok();
            let outcomes = run.unwrap_or_else(|error| {
                // Those that have time left stay, and begin the next group.
                let failed = if error.is_busy() { self.expired(&jobs) } else { jobs.len() };
                vec![Err(error); failed]
            });
            let committed = began && outcomes.iter().any(|outcome| !matches!(outcome, Ok(Err(_))));
            for (job, outcome) in jobs.drain(..outcomes.len()).zip(outcomes) {
                // The receiver is dropped with the caller's future; the batch is written anyway.
                let _ = job.answer.send(outcome);
            }
            if committed {
                self.watch.doorbells.ring();
                if let Ok(connection) = self.group.connection() {
                    self.checkpoints.committed(connection);
                }
            }
        }
    }

    /// Waits for a job, and takes those that came during the last commit, too: they share the next
    /// one. While there are fewer than in that, its clients probably prepare their next jobs: it
    /// goes on taking them until none comes for a moment. Returns whether there is one.
    fn fill(&mut self, jobs: &mut Vec<WriteJob>, last: usize) -> bool {
        if jobs.is_empty() {
            let Ok(job) = self.inbox.0.recv_blocking() else { return false };
            jobs.push(job);
        }
        let mut text: usize = jobs.iter().map(WriteJob::text).sum();
        while jobs.len() < MOST_JOBS && text < MOST_TEXT {
            let next = if jobs.len() < last { self.soon() } else { self.inbox.0.try_recv() };
            let Ok(job) = next else { break };
            text += job.text();
            jobs.push(job);
        }
        true
    }

    /// The number of jobs that have waited for the whole busy timeout. A group waits as long as its
    /// first one.
    fn expired(&self, jobs: &[WriteJob]) -> usize {
        let busy = Duration::from_millis(self.busy_ms);
        jobs.iter().take_while(|job| job.since.elapsed() >= busy).count().max(1)
    }

    /// A job that comes within a moment.
    fn soon(&self) -> Result<WriteJob, TryRecvError> {
        let start = Instant::now();
        loop {
            match self.inbox.0.try_recv() {
                Err(TryRecvError::Empty) if start.elapsed() < AWAKE => std::thread::yield_now(),
                received => return received,
            }
        }
    }

    /// Closes every connection, this one last, so that it can fold the log into the file.
    fn close(&mut self) -> Result<(), Unavailable> {
        fail_point!("store-close");
        self.inbox.0.close();
        self.readers.join();
        if let Some(watch) = self.watch.stop() {
            let _ = watch.join();
        }
        self.checkpoints.stop();
        self.watch.doorbells.clear();
        let start = Instant::now();
        let wait = CLOSE_WAIT.min(Duration::from_millis(self.busy_ms));
        let complete = loop {
            let connection = self.group.connection()?;
            if checkpoint::run(connection, CheckpointMode::TRUNCATE) {
                break true;
            }
            // Another store of this process may just be closing.
            if start.elapsed() >= wait {
                break false;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.group.close();
        fail_point!("store-closed");
        // Everything is durable, but the file alone is not everything.
        if complete { Ok(()) } else { Err(Unavailable::InUse) }
    }
}
