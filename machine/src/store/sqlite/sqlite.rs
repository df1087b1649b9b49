use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use async_channel::Sender;
use futures_channel::oneshot;
use rusqlite::Connection;

use super::{
    agenda, attempts, backup,
    blocking::Blocking,
    consumer, crew, definitions, journal,
    observed::Stamp,
    operations, prune,
    readers::{Readers, Source},
    row, schema, select, sessions,
    watch::{Doorbells, Watch},
    writing::Writing,
};
use crate::{
    id::Id,
    journal::Line,
    store::{
        backend::{
            Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions,
            Doorbell, Filter, Found, Identity, Messages, Operated, Registered, Rejected, Sequenced,
            Task,
        },
        error::{OpenError, Unavailable},
        inbox::{consumer::Offset, message::Received, protocol::Work},
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Selected, Transitions},
        },
        upkeep::{
            backup::{BackupError, BackupProgress, Copied},
            pruned::Kept,
            pruning::{Candidate, Link, Pruning},
        },
        write::attempt::Attempt,
    },
};

/// A SQLite file. All work on it is done by threads; this is their handle. They end when it is closed
/// or dropped.
#[derive(Debug)]
pub(crate) struct Sqlite {
    source: Source,
    readers: Arc<Readers>,
    blocking: Blocking,
    access: Access,
}

#[derive(Debug)]
enum Access {
    Writing(Writing),
    /// The file was opened for reading only.
    Reading {
        doorbells: Arc<Doorbells>,
        watch: Watch,
    },
}

impl Sqlite {
    pub(super) fn start(
        source: Source,
        writer: Connection,
        reader: Connection,
    ) -> Result<Self, OpenError> {
        let readers = Arc::new(Readers::start(source.clone(), (reader, None))?);
        let writing = Writing::start(&source, writer, &readers).inspect_err(|_| readers.close())?;
        let (blocking, access) = (Blocking::default(), Access::Writing(writing));
        Ok(Self { source, readers, blocking, access })
    }

    /// A file that is only read.
    pub(super) fn start_for_reading(
        source: Source,
        reader: (Connection, Option<Stamp>),
    ) -> Result<Self, OpenError> {
        let readers = Arc::new(Readers::start(source.clone(), reader)?);
        let watch = Watch::new(source.clone());
        let access = Access::Reading { doorbells: Arc::default(), watch };
        Ok(Self { source, readers, blocking: Blocking::default(), access })
    }

    /// The file, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.source.path
    }

    #[cfg(test)]
    pub(super) fn fault(&self) -> &super::tests::Fault {
        match &self.access {
            Access::Writing(writing) => &writing.fault,
            Access::Reading { .. } => panic!("it was opened for reading"),
        }
    }

    /// Accepts nothing more. The writing thread finishes what is queued, and closes the file.
    fn stop(&self) {
        match &self.access {
            Access::Writing(writing) => writing.stop(),
            // Does not wait for the thread: this may run on it.
            Access::Reading { watch, .. } => drop(watch.stop()),
        }
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
        self.source.identity
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        match &self.access {
            Access::Writing(writing) => writing.apply(batch),
            Access::Reading { .. } => Box::pin(async { Err(Unavailable::read_only()) }),
        }
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        self.readers.read(move |reader| row::of(&reader.connection, &mut reader.names, &ids))
    }

    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>> {
        self.readers.read(move |reader| select::select(reader, &filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>> {
        self.readers.read(move |reader| sessions::sessions(&reader.connection, after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.readers.read(move |reader| journal::history(reader, id, from, limit))
    }

    fn transitions(&self, of: Selected) -> Answer<Transitions> {
        self.readers.read(move |reader| journal::transitions(reader, &of))
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

    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>> {
        self.readers.read(move |reader| agenda::agenda(&reader.connection, &kinds, limit, &ended))
    }

    fn driven(&self) -> Answer<Vec<String>> {
        self.readers.read(|reader| crew::driven(&reader.connection))
    }

    fn workers(&self) -> Answer<Vec<Registered>> {
        self.readers.read(|reader| crew::workers(&reader.connection))
    }

    fn holders(&self) -> Answer<Vec<String>> {
        self.readers.read(|reader| agenda::holders(&reader.connection))
    }

    fn task(&self, id: Id) -> Answer<Task> {
        self.readers.read(move |reader| agenda::task(reader, id))
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.readers.read(move |reader| agenda::messages(&reader.connection, &reader.key, &which))
    }

    fn failing(&self) -> Answer<Vec<(Id, Work)>> {
        self.readers.read(|reader| agenda::failing(&reader.connection))
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.readers.read(move |reader| agenda::children(&reader.connection, &reader.key, parent))
    }

    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>> {
        self.readers.read(move |reader| agenda::parent(&reader.connection, &reader.key, child))
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.readers.read(|reader| definitions::read(&reader.connection, &reader.key))
    }

    fn schema(&self) -> Answer<Vec<String>> {
        self.readers.read(|reader| schema::compare(&reader.connection))
    }

    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>> {
        self.readers.read(move |reader| prune::links(reader, after, limit))
    }

    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>> {
        self.readers.read(move |reader| prune::prunable(&reader.connection, &candidates))
    }

    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>> {
        self.readers.read(|reader| prune::prunings(&reader.connection, &reader.key))
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>> {
        self.readers.read(move |reader| {
            operations::operations(&reader.connection, &reader.key, before, limit)
        })
    }

    fn offset(&self, name: String) -> Answer<Option<Offset>> {
        self.readers.read(move |reader| consumer::offset(&reader.connection, &name))
    }

    fn newest(&self) -> Answer<u64> {
        self.readers.read(journal::newest)
    }

    fn on_commit(&self, doorbell: Doorbell) {
        match &self.access {
            Access::Writing(writing) => writing.on_commit(doorbell),
            Access::Reading { doorbells, watch } => {
                doorbells.add(doorbell);
                watch.start(doorbells);
            }
        }
    }

    fn backup(
        &self,
        to: PathBuf,
        steps: Sender<BackupProgress>,
    ) -> Answer<Result<Copied, BackupError>> {
        if self.readers.is_closed() {
            return Box::pin(async { Err(Unavailable::stopped()) });
        }
        let (answer, copied) = oneshot::channel();
        let source = self.source.clone();
        // On a separate thread: it takes long.
        let thread = thread::Builder::new().name("machine-backup".to_owned());
        let spawned = thread.spawn(move || {
            // The receiver is gone if the caller's future was dropped.
            let _ = answer.send(backup::run(&source, &to, &steps));
        });
        Box::pin(async move {
            spawned.map_err(Unavailable::other)?;
            copied.await.map_err(|_| Unavailable::stopped())
        })
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        self.blocking.run(work);
    }

    fn close(&self) -> Answer<()> {
        let (doorbells, watch) = match &self.access {
            Access::Writing(writing) => {
                self.stop();
                return writing.closed();
            }
            Access::Reading { doorbells, watch } => (doorbells, watch.stop()),
        };
        self.stop();
        // This blocks only until the reads in progress end.
        self.readers.join();
        if let Some(watch) = watch {
            let _ = watch.join();
        }
        doorbells.clear();
        Box::pin(async { Ok(()) })
    }
}
