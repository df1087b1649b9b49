use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

use async_channel::{Receiver, Sender};
use futures_channel::oneshot;
use rusqlite::Connection;

use super::{
    cached::{Cached, Keyed},
    connection::Role,
    deadline::OpenDeadline,
    definitions::Names,
    failure::{reopening, unavailable},
    identity,
    inbox::Inbox,
    inode::Files,
    observed::{self, Stamp},
};
use crate::{
    journal::DigestKey,
    store::{
        backend::{Identity, Reply, StoreSettings},
        error::{OpenError, Unavailable},
        lock::lock,
    },
    telemetry,
};

const MAX_READERS: usize = 3;

/// The number of reads that may be queued before callers have to wait.
const QUEUE: usize = 256;

/// Threads with a read-only connection each. The second and the third start when they are needed.
#[derive(Debug)]
pub(super) struct Readers {
    jobs: Sender<ReadJob>,
    pool: Pool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Clone)]
struct Pool {
    source: Source,
    jobs: Receiver<ReadJob>,
    idle: Arc<AtomicUsize>,
}

type ReadJob = Box<dyn FnOnce(Result<&mut ReadConnection, Unavailable>) + Send>;

/// The file, and how to open it for reading.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) settings: StoreSettings,
    pub(super) identity: Identity,
    /// The file that is open, or was opened first; an observer follows the name.
    pub(super) place: Files,
    /// The store must not change the file, nor create one next to it.
    pub(super) observes: bool,
}

/// A connection, with the state of the file that it has seen.
pub(super) struct ReadConnection {
    pub(super) connection: Connection,
    pub(super) names: Names,
    pub(super) key: DigestKey,
    source: Source,
    /// See [`observed::open`].
    stamp: Option<Stamp>,
}

impl Readers {
    pub(super) fn start(
        source: Source,
        first: (Connection, Option<Stamp>),
    ) -> Result<Self, OpenError> {
        let (jobs, queue) = async_channel::bounded(QUEUE);
        let pool = Pool { source, jobs: queue, idle: Arc::default() };
        let thread = pool.clone().spawn(Some(first));
        let thread = thread.map_err(Unavailable::other)?;
        Ok(Self { jobs, pool, threads: Mutex::new(vec![thread]) })
    }

    /// Runs a query on one of the threads, in a read transaction. It is repeated if another writer
    /// began to write to a file that was at rest.
    pub(super) fn read<T: Send + 'static>(
        &self,
        query: impl FnMut(&mut ReadConnection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<T> {
        if self.pool.idle.load(Ordering::Acquire) <= self.jobs.len() {
            self.start_another();
        }
        let jobs = self.jobs.clone();
        Box::pin(async move {
            let (answer, result) = oneshot::channel();
            let job: ReadJob = Box::new(move |reader| {
                // The receiver is dropped with the caller's future.
                if !answer.is_canceled() {
                    let _ = answer.send(reader.and_then(|reader| reader.transaction(query)));
                }
            });
            jobs.send(job).await.map_err(|_| Unavailable::Stopped)?;
            result.await.map_err(|_| Unavailable::Stopped)?
        })
    }

    fn start_another(&self) {
        let mut threads = lock(&self.threads);
        if threads.len() < MAX_READERS && !self.jobs.is_closed() {
            match self.pool.clone().spawn(None) {
                Ok(thread) => threads.push(thread),
                // The running threads do its work.
                Err(_) => {
                    telemetry::StoragePostponed { operation: "reader_thread", status: None }.emit();
                }
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.jobs.is_closed()
    }

    /// Reads that come later are refused; those in the queue are answered.
    pub(super) fn close(&self) {
        self.jobs.close();
    }

    pub(super) fn join(&self) {
        self.close();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Pool {
    fn spawn(self, first: Option<(Connection, Option<Stamp>)>) -> std::io::Result<JoinHandle<()>> {
        let thread = std::thread::Builder::new().name("machine-reader".to_owned());
        self.idle.fetch_add(1, Ordering::AcqRel);
        let idle = Arc::clone(&self.idle);
        let spawned = thread.spawn(move || self.serve(first));
        if spawned.is_err() {
            idle.fetch_sub(1, Ordering::AcqRel);
        }
        spawned
    }

    fn serve(self, first: Option<(Connection, Option<Stamp>)>) {
        let inbox = Inbox(self.jobs.clone());
        let mut reader = first.map(|opened| ReadConnection::new(self.source.clone(), opened));
        while let Ok(job) = inbox.0.recv_blocking() {
            self.idle.fetch_sub(1, Ordering::AcqRel);
            let open = match reader.take() {
                Some(reader) => Ok(reader),
                None => ReadConnection::open(self.source.clone()),
            };
            // A panic concerns the caller of this job only, but the connection is in doubt.
            let done = catch_unwind(AssertUnwindSafe(|| match open {
                Ok(mut reader) => {
                    job(Ok(&mut reader));
                    Some(reader)
                }
                Err(error) => {
                    job(Err(reopening(error)));
                    None
                }
            }));
            reader = done.unwrap_or_else(|_| {
                telemetry::StorageFailed { operation: "read", status: None }.emit();
                None
            });
            self.idle.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Source {
    pub(super) fn open(&self) -> Result<(Connection, Option<Stamp>), OpenError> {
        let (path, busy_ms) = (&self.path, self.settings.busy_ms);
        if !self.observes {
            return Ok((self.place.open(path, Role::Reader, busy_ms)?, None));
        }
        let deadline = OpenDeadline::after(busy_ms);
        let identify = |connection: &Connection| identity::of(connection, path, &self.settings.key);
        let (opened, identity) = observed::open(path, busy_ms, deadline, identify)?;
        // Nothing keeps others from putting another file in the place of one that is only read.
        if identity != self.identity {
            let reason = "the file was replaced by another store; open it again".to_owned();
            return Err(OpenError::CannotOpen { path: path.clone(), reason });
        }
        Ok(opened)
    }
}

impl ReadConnection {
    fn new(source: Source, (connection, stamp): (Connection, Option<Stamp>)) -> Self {
        let key = source.settings.key;
        Self { connection, names: Names::default(), key, source, stamp }
    }

    fn open(mut source: Source) -> Result<Self, OpenError> {
        if source.observes {
            // Before it is opened: if another file takes its place in between, that is noticed.
            source.place = Files::without_log(&source.path);
        }
        let opened = source.open()?;
        Ok(Self::new(source, opened))
    }

    pub(super) fn keyed(&self) -> Keyed<'_> {
        Keyed { connection: &self.connection, key: &self.key }
    }

    /// Checks whether the path still leads to the file, and to its log if the store writes to it.
    /// Otherwise reads from the file are no longer valid.
    fn is_in_place(&self) -> bool {
        self.source.place.is_in_place(&self.source.path)
    }

    /// Checks whether the connection sees the file as it is.
    fn is_current(&self) -> bool {
        self.is_in_place() && observed::is_current(&self.source.path, self.stamp.as_ref())
    }

    fn transaction<T>(
        &mut self,
        mut query: impl FnMut(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T, Unavailable> {
        loop {
            if !self.is_current() {
                if !self.source.observes && !self.is_in_place() {
                    return Err(Unavailable::Moved);
                }
                *self = Self::open(self.source.clone()).map_err(reopening)?;
            }
            // All statements of a query see the same version of the file.
            let mut run = || {
                self.connection.run("BEGIN", [])?;
                let result = query(self);
                if !self.connection.is_autocommit() {
                    self.connection.run("ROLLBACK", [])?;
                }
                result
            };
            let result = run().map_err(|error| unavailable(&error));
            // A read during a write may return half of the old and half of the new.
            if self.is_current() {
                return result;
            }
        }
    }
}
