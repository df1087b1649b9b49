use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use async_channel::{Receiver, Sender};
use futures_channel::oneshot;
use rusqlite::Connection;

use super::{
    attempts,
    blocking::Blocking,
    checkpoint::Checkpoints,
    definitions, failure,
    group::Group,
    inbox::Inbox,
    journal,
    readers::Readers,
    row, select,
    watch::{Doorbells, Watch},
    writer::{Job, Writer},
};
use crate::{
    id::Id,
    journal::Line,
    store::{
        OpenError, Unavailable,
        attempt::Attempt,
        backend::{
            Answer, Applied, Attempts, Backend, Batch, Broken, Definitions, Doorbell, Filter,
            Found, Identity, Rejected, Sequenced, Settings,
        },
    },
};

/// How many batches may wait before callers have to.
const QUEUE: usize = 1024;

/// A SQLite file. All work on it is done by threads; this is their handle. They end when it is closed
/// or dropped.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    identity: Identity,
    jobs: Sender<Job>,
    readers: Arc<Readers>,
    blocking: Blocking,
    doorbells: Arc<Doorbells>,
    watch: Arc<Watch>,
    /// Ends when the writing thread has ended.
    done: Receiver<Infallible>,
    closed: Arc<OnceLock<Result<(), Unavailable>>>,
    #[cfg(test)]
    pub(super) fault: Arc<super::tests::Fault>,
}

impl Sqlite {
    pub(super) fn start(
        path: PathBuf,
        settings: Settings,
        identity: Identity,
        writer: Connection,
        reader: Connection,
    ) -> Result<Self, OpenError> {
        let (file, busy_ms) = (path.clone(), settings.busy_ms);
        let checkpoints = Checkpoints::new(path.clone());
        let group = Group::new(path.clone(), settings, writer, Box::new(checkpoints.hook()))
            .map_err(|error| failure::opening(&error, &path))?;
        let readers = Arc::new(Readers::start(path.clone(), settings, reader)?);
        let watch = Arc::new(Watch::new(path, busy_ms));
        let doorbells = Arc::new(Doorbells::default());
        let closed = Arc::new(OnceLock::new());
        let (jobs, inbox) = async_channel::bounded(QUEUE);
        let (running, done) = async_channel::bounded::<Infallible>(1);
        #[cfg(test)]
        let fault = Arc::clone(&group.fault);
        let thread = Writer {
            inbox: Inbox(inbox),
            group,
            busy_ms,
            checkpoints,
            readers: Arc::clone(&readers),
            doorbells: Arc::clone(&doorbells),
            watch: Arc::clone(&watch),
            closed: Arc::clone(&closed),
        };
        let spawned =
            std::thread::Builder::new().name("machine-writer".to_owned()).spawn(move || {
                thread.run();
                drop(running);
            });
        if let Err(error) = spawned {
            readers.close();
            return Err(Unavailable::other(error).into());
        }
        let blocking = Blocking::default();
        Ok(Self {
            path: file,
            identity,
            jobs,
            readers,
            blocking,
            doorbells,
            watch,
            done,
            closed,
            #[cfg(test)]
            fault,
        })
    }

    /// The file, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Accepts nothing more. The writing thread finishes what is queued, and closes the file.
    fn stop(&self) {
        self.jobs.close();
        self.readers.close();
        self.blocking.close();
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Backend for Sqlite {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        let jobs = self.jobs.clone();
        Box::pin(async move {
            let (answer, outcome) = oneshot::channel();
            jobs.send(Job { batch, answer }).await.map_err(|_| Unavailable::stopped())?;
            outcome.await.map_err(|_| Unavailable::stopped())?
        })
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        self.readers.read(move |reader| row::of(&reader.connection, &mut reader.names, &ids))
    }

    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>> {
        self.readers.read(move |reader| select::select(reader, &filter))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.readers.read(move |reader| journal::history(reader, id, from, limit))
    }

    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>> {
        self.readers.read(move |reader| journal::entries(reader, after, limit))
    }

    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>> {
        self.readers.read(move |reader| {
            let found = attempts::read(&reader.connection, &reader.key, &which)?;
            Ok(found.into_iter().map(|found| found.map(|stored| stored.attempt)).collect())
        })
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.readers.read(|reader| definitions::read(&reader.connection))
    }

    fn newest(&self) -> Answer<u64> {
        self.readers.read(journal::newest)
    }

    fn on_commit(&self, doorbell: Doorbell) {
        self.doorbells.add(doorbell);
        self.watch.start(&self.doorbells);
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        self.blocking.run(work);
    }

    fn close(&self) -> Answer<()> {
        self.stop();
        let (done, closed) = (self.done.clone(), Arc::clone(&self.closed));
        Box::pin(async move {
            let _ = done.recv().await;
            closed.get().cloned().unwrap_or_else(|| Err(Unavailable::stopped()))
        })
    }
}
