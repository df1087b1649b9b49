use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use async_channel::Sender;
use rusqlite::Connection;

use super::{
    attempts, backup,
    blocking::Blocking,
    call, call_line, child, crew, definitions, journal,
    observed::Stamp,
    operations, prune,
    readers::{ReadConnection, Readers, Source},
    ready, records, row, schema, select, sessions,
    watch::Watch,
    writing::Writing,
};
use crate::{
    clock::Millis,
    id::Id,
    journal::Line,
    store::{
        backend::{
            AppliedBatch, Attempts, Backend, Broken, CallLine, CallRow, Child, DefinitionRows,
            DoorbellFn, Filter, FoundRow, Identity, Messages, Operated, ReadyMachine, Record,
            Records, Rejected, Reply, Schedules, Sequenced, WorkRows, WorkerRow, WriteBatch,
            answers,
        },
        error::{OpenError, Unavailable},
        inbox::{message::Received, protocol::Schedule},
        open::off_thread,
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Selected, Transitions},
        },
        upkeep::{
            backup::{Backup, BackupError, BackupProgress},
            pruning::Link,
        },
        write::attempt::KeyAttempt,
    },
};

/// A SQLite file. All work on it is done by threads; this is their handle. They end when it is
/// closed or dropped.
#[derive(Debug)]
pub(crate) struct Sqlite {
    source: Source,
    readers: Arc<Readers>,
    blocking: Blocking,
    watch: Arc<Watch>,
    /// `None` if the file was opened for reading only.
    writing: Option<Writing>,
}

impl Sqlite {
    /// Without a writer, the file is only read.
    pub(super) fn start(
        source: Source,
        reader: (Connection, Option<Stamp>),
        writer: Option<Connection>,
    ) -> Result<Self, OpenError> {
        let readers = Arc::new(Readers::start(source.clone(), reader)?);
        let watch = Arc::new(Watch::new(source.clone()));
        let writing = writer.map(|writer| Writing::start(&source, writer, &readers, &watch));
        let writing = writing.transpose().inspect_err(|_| readers.close())?;
        Ok(Self { source, readers, blocking: Blocking::default(), watch, writing })
    }

    fn read<T: Send + 'static>(
        &self,
        query: impl FnMut(&mut ReadConnection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<T> {
        self.readers.read(query)
    }

    /// The file, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.source.path
    }

    #[cfg(test)]
    pub(super) fn writing(&self) -> &Writing {
        self.writing.as_ref().expect("it was opened for writing")
    }

    /// Stops accepting work. The writing thread completes queued work, and closes the file.
    fn stop(&self) {
        match &self.writing {
            Some(writing) => writing.stop(),
            // Does not wait for the thread: this may run on it.
            None => drop(self.watch.stop()),
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

    fn apply(&self, batch: WriteBatch) -> Reply<Result<AppliedBatch, Rejected>> {
        match &self.writing {
            Some(writing) => writing.apply(batch, Instant::now()),
            None => Box::pin(async { Err(Unavailable::ReadOnly) }),
        }
    }

    answers! { read:
        fn rows(ids: Vec<Id>) -> Vec<FoundRow> =
            move |reader| row::of(&reader.connection, &mut reader.names, &ids);
        fn select(filter: Filter) -> Vec<(u64, FoundRow)> =
            move |reader| select::select(reader, &filter);
        fn sessions(after: Option<SessionCursor>, limit: usize) -> Vec<(u64, SessionLine)> =
            move |reader| sessions::sessions(&reader.connection, after, limit);
        fn history(id: Id, from: u64, limit: usize) -> Result<Vec<Line>, Broken> =
            move |reader| journal::history(reader, id, from, limit);
        fn moves_before(id: Id, number: u64) -> u64 =
            move |reader| journal::moves_before(&reader.connection, id, number);
        fn transitions(of: Selected) -> Transitions =
            move |reader| journal::transitions(reader, &of);
        fn entries(after: u64, limit: usize) -> Vec<Sequenced> =
            move |reader| journal::entries(reader, after, limit);
        fn attempts(which: Attempts) -> Vec<Result<KeyAttempt, Broken>> = move |reader| {
            let found = attempts::read(reader.keyed(), &which)?;
            Ok(found.into_iter().map(|found| found.map(|stored| stored.attempt)).collect())
        };
        fn ready(
            kinds: Vec<String>,
            limit: usize,
            now: Millis,
            ended: Vec<String>
        ) -> Vec<ReadyMachine> =
            move |reader| ready::ready(&reader.connection, &kinds, limit, now, &ended);
        fn driven() -> Vec<String> = |reader| crew::driven(&reader.connection);
        fn workers() -> Vec<WorkerRow> = |reader| crew::workers(&reader.connection);
        fn lease_holders() -> Vec<String> = |reader| ready::lease_holders(&reader.connection);
        fn task(id: Id) -> WorkRows = move |reader| ready::task(reader, id);
        fn messages(which: Messages) -> Vec<Result<Received, Broken>> =
            move |reader| ready::messages(reader.keyed(), &which);
        fn schedules(which: Schedules) -> Vec<(Id, Schedule)> =
            move |reader| ready::schedules(&reader.connection, which);
        fn children(parent: Id) -> Vec<Result<Child, Broken>> =
            move |reader| child::children(reader.keyed(), parent);
        fn calls(parent: Id, since: u64) -> Vec<Result<CallRow, Broken>> = move |reader| {
            call::select(reader.keyed(), call::OF_ENTRY, parent, &journal::bounded(since))
        };
        fn call_lines(entries: Vec<(Id, u64)>) -> Vec<Result<CallLine, Broken>> =
            move |reader| call_line::of(reader.keyed(), &entries);
        fn same_call(parent: Id, key: String) -> Vec<Result<CallRow, Broken>> =
            move |reader| call::select(reader.keyed(), call::OF_KEY, parent, &key);
        fn parent(child: Id) -> Result<Option<Id>, Broken> = move |reader| {
            let found = child::find(reader.keyed(), child)?;
            Ok(found.map(|found| found.map(|kinship| kinship.parent)))
        };
        fn records(which: Records) -> Vec<Result<Record, Broken>> =
            move |reader| records::read(reader.keyed(), &which);
        fn newest_definition() -> u64 = |reader| definitions::newest(&reader.connection);
        fn definitions() -> DefinitionRows =
            |reader| definitions::read(&reader.connection, &reader.key);
        fn schema() -> Vec<String> = |reader| {
            let mut defects = schema::compare(&reader.connection)?;
            defects.extend(schema::damage(&reader.connection)?);
            Ok(defects)
        };
        fn links(after: u64, limit: usize) -> Vec<Link> =
            move |reader| prune::links(reader, after, limit);
        fn operations(before: Option<u64>, limit: usize) -> Vec<Operated> =
            move |reader| operations::operations(reader.keyed(), before, limit);
        fn newest() -> u64 = |reader| journal::newest(&reader.connection);
    }

    fn on_commit(&self, doorbell: DoorbellFn) {
        self.watch.on_commit(doorbell);
    }

    fn backup(
        &self,
        to: PathBuf,
        steps: Sender<BackupProgress>,
    ) -> Reply<Result<Backup, BackupError>> {
        if self.readers.is_closed() {
            return Box::pin(async { Err(Unavailable::Stopped) });
        }
        let source = self.source.clone();
        // On a separate thread: it takes long.
        off_thread("machine-backup", move || backup::run(&source, &to, &steps))
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        // After `close` the work is dropped.
        if !self.readers.is_closed() {
            self.blocking.run(work);
        }
    }

    fn close(&self) -> Reply<()> {
        if let Some(writing) = &self.writing {
            self.stop();
            return writing.closed();
        }
        let watch = self.watch.stop();
        self.stop();
        // This blocks only until the reads in progress end.
        self.readers.join();
        if let Some(watch) = watch {
            let _ = watch.join();
        }
        self.watch.doorbells.clear();
        Box::pin(async { Ok(()) })
    }
}
