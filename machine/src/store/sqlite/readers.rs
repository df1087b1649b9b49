use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

use async_channel::{Receiver, Sender};
use futures_channel::oneshot;
use rusqlite::Connection;

use super::{
    connection::{self, Role},
    definitions::Names,
    failure::{reopening, unavailable},
    inbox::Inbox,
};
use crate::store::telemetry;
use crate::{
    journal::DigestKey,
    store::{
        OpenError, Unavailable,
        backend::{Answer, Settings},
    },
};

const MOST: usize = 3;

/// How many reads may wait before callers have to.
const QUEUE: usize = 256;

/// Threads with a read-only connection each. The second and the third start when they are needed.
#[derive(Debug)]
pub(super) struct Readers {
    jobs: Sender<Job>,
    pool: Pool,
    most: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Clone)]
struct Pool {
    path: PathBuf,
    settings: Settings,
    jobs: Receiver<Job>,
    idle: Arc<AtomicUsize>,
}

type Job = Box<dyn FnOnce(Result<&mut Reader, Unavailable>) + Send>;

/// A connection, and what is known about the file through it.
pub(super) struct Reader {
    pub(super) connection: Connection,
    pub(super) names: Names,
    pub(super) key: DigestKey,
}

impl Readers {
    pub(super) fn start(
        path: PathBuf,
        settings: Settings,
        first: Connection,
    ) -> Result<Self, OpenError> {
        let (jobs, queue) = async_channel::bounded(QUEUE);
        let pool = Pool { path, settings, jobs: queue, idle: Arc::default() };
        let thread = pool.clone().spawn(Some(first));
        let thread = thread.map_err(Unavailable::other)?;
        Ok(Self { jobs, pool, most: MOST, threads: Mutex::new(vec![thread]) })
    }

    /// One thread with this connection, and never another.
    pub(super) fn start_one(
        path: PathBuf,
        settings: Settings,
        connection: Connection,
    ) -> Result<Self, OpenError> {
        Ok(Self { most: 1, ..Self::start(path, settings, connection)? })
    }

    /// Runs a query on one of the threads, in a read transaction.
    pub(super) fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<T> {
        if self.pool.idle.load(Ordering::Acquire) <= self.jobs.len() {
            self.start_another();
        }
        let jobs = self.jobs.clone();
        Box::pin(async move {
            let (answer, result) = oneshot::channel();
            let job: Job = Box::new(move |reader| {
                // Nobody listens if the caller's future was dropped.
                if !answer.is_canceled() {
                    let _ = answer.send(reader.and_then(|reader| reader.transaction(query)));
                }
            });
            jobs.send(job).await.map_err(|_| Unavailable::stopped())?;
            result.await.map_err(|_| Unavailable::stopped())?
        })
    }

    fn start_another(&self) {
        // Poisoning is harmless: the list is changed in one step.
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() < self.most && !self.jobs.is_closed() {
            match self.pool.clone().spawn(None) {
                Ok(thread) => threads.push(thread),
                // Those that are running do its work.
                Err(_) => {
                    telemetry::StoragePostponed { operation: "reader_thread", status: None }.emit();
                }
            }
        }
    }

    /// Reads that come later are refused; those in the queue are answered.
    pub(super) fn close(&self) {
        self.jobs.close();
    }

    /// Waits until every connection is closed.
    pub(super) fn join(&self) {
        self.close();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Pool {
    fn spawn(self, connection: Option<Connection>) -> std::io::Result<JoinHandle<()>> {
        let thread = std::thread::Builder::new().name("machine-reader".to_owned());
        self.idle.fetch_add(1, Ordering::AcqRel);
        let idle = Arc::clone(&self.idle);
        let spawned = thread.spawn(move || self.serve(connection));
        if spawned.is_err() {
            idle.fetch_sub(1, Ordering::AcqRel);
        }
        spawned
    }

    fn serve(self, connection: Option<Connection>) {
        let inbox = Inbox(self.jobs.clone());
        let key = self.settings.key;
        let new = |connection| Reader { connection, names: Names::default(), key };
        let mut reader = connection.map(new);
        while let Ok(job) = inbox.0.recv_blocking() {
            self.idle.fetch_sub(1, Ordering::AcqRel);
            let open = match reader.take() {
                Some(reader) => Ok(reader),
                None => connection::open(&self.path, Role::Reader, self.settings.busy_ms).map(new),
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

impl Reader {
    /// All statements of a query see the same version of the file.
    fn transaction<T>(
        &mut self,
        query: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T, Unavailable> {
        let execute =
            |connection: &Connection, sql| connection.prepare_cached(sql)?.execute([]).map(drop);
        let run = || {
            execute(&self.connection, "BEGIN")?;
            let result = query(self);
            if !self.connection.is_autocommit() {
                execute(&self.connection, "ROLLBACK")?;
            }
            result
        };
        run().map_err(|error| unavailable(&error))
    }
}
