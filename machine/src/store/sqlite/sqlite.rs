use std::{
    collections::BTreeSet,
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
    operations, pinned, prune,
    readers::{Readers, Source},
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
            DoorbellFn, Filter, FoundRow, Identity, Messages, Operated, PinnedLog, ReadyMachine,
            Record, Records, Rejected, Reply, Schedules, Sequenced, WorkRows, WorkerRow,
            WriteBatch,
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

    /// The file, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.source.path
    }

    #[cfg(test)]
    pub(super) fn fault(&self) -> &super::tests::Fault {
        &self.writing().fault
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

    fn rows(&self, ids: Vec<Id>) -> Reply<Vec<FoundRow>> {
        self.readers.read(move |reader| row::of(&reader.connection, &mut reader.names, &ids))
    }

    fn select(&self, filter: Filter) -> Reply<Vec<(u64, FoundRow)>> {
        self.readers.read(move |reader| select::select(reader, &filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Reply<Vec<(u64, SessionLine)>> {
        self.readers.read(move |reader| sessions::sessions(&reader.connection, after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Reply<Result<Vec<Line>, Broken>> {
        self.readers.read(move |reader| journal::history(reader, id, from, limit))
    }

    fn moves_before(&self, id: Id, number: u64) -> Reply<u64> {
        self.readers.read(move |reader| journal::moves_before(&reader.connection, id, number))
    }

    fn transitions(&self, of: Selected) -> Reply<Transitions> {
        self.readers.read(move |reader| journal::transitions(reader, &of))
    }

    fn entries(&self, after: u64, limit: usize) -> Reply<Vec<Sequenced>> {
        self.readers.read(move |reader| journal::entries(reader, after, limit))
    }

    fn attempts(&self, which: Attempts) -> Reply<Vec<Result<KeyAttempt, Broken>>> {
        self.readers.read(move |reader| {
            let found = attempts::read(reader.keyed(), &which)?;
            Ok(found.into_iter().map(|found| found.map(|stored| stored.attempt)).collect())
        })
    }

    fn ready(
        &self,
        kinds: Vec<String>,
        limit: usize,
        now: Millis,
        ended: Vec<String>,
    ) -> Reply<Vec<ReadyMachine>> {
        self.readers
            .read(move |reader| ready::ready(&reader.connection, &kinds, limit, now, &ended))
    }

    fn driven(&self) -> Reply<Vec<String>> {
        self.readers.read(|reader| crew::driven(&reader.connection))
    }

    fn workers(&self) -> Reply<Vec<WorkerRow>> {
        self.readers.read(|reader| crew::workers(&reader.connection))
    }

    fn lease_holders(&self) -> Reply<Vec<String>> {
        self.readers.read(|reader| ready::lease_holders(&reader.connection))
    }

    fn task(&self, id: Id) -> Reply<WorkRows> {
        self.readers.read(move |reader| ready::task(reader, id))
    }

    fn messages(&self, which: Messages) -> Reply<Vec<Result<Received, Broken>>> {
        self.readers.read(move |reader| ready::messages(reader.keyed(), &which))
    }

    fn schedules(&self, which: Schedules) -> Reply<Vec<(Id, Schedule)>> {
        self.readers.read(move |reader| ready::schedules(&reader.connection, which))
    }

    fn children(&self, parent: Id) -> Reply<Vec<Result<Child, Broken>>> {
        self.readers.read(move |reader| child::children(reader.keyed(), parent))
    }

    fn calls(&self, parent: Id, since: u64) -> Reply<Vec<Result<CallRow, Broken>>> {
        self.readers.read(move |reader| {
            call::select(reader.keyed(), call::OF_ENTRY, parent, &journal::bounded(since))
        })
    }

    fn call_lines(&self, entries: Vec<(Id, u64)>) -> Reply<Vec<Result<CallLine, Broken>>> {
        self.readers.read(move |reader| call_line::of(reader.keyed(), &entries))
    }

    fn same_call(&self, parent: Id, key: String) -> Reply<Vec<Result<CallRow, Broken>>> {
        self.readers.read(move |reader| call::select(reader.keyed(), call::OF_KEY, parent, &key))
    }

    fn parent(&self, child: Id) -> Reply<Result<Option<Id>, Broken>> {
        self.readers.read(move |reader| {
            let found = child::find(reader.keyed(), child)?;
            Ok(found.map(|found| found.map(|kinship| kinship.parent)))
        })
    }

    fn records(&self, which: Records) -> Reply<Vec<Result<Record, Broken>>> {
        self.readers.read(move |reader| records::read(reader.keyed(), &which))
    }

    fn newest_definition(&self) -> Reply<u64> {
        self.readers.read(|reader| definitions::newest(&reader.connection))
    }

    fn definitions(&self) -> Reply<DefinitionRows> {
        self.readers.read(|reader| definitions::read(&reader.connection, &reader.key))
    }

    fn schema(&self) -> Reply<Vec<String>> {
        self.readers.read(|reader| {
            let mut defects = schema::compare(&reader.connection)?;
            defects.extend(schema::damage(&reader.connection)?);
            Ok(defects)
        })
    }

    fn links(&self, after: u64, limit: usize) -> Reply<Vec<Link>> {
        self.readers.read(move |reader| prune::links(reader, after, limit))
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Reply<Vec<Operated>> {
        self.readers.read(move |reader| operations::operations(reader.keyed(), before, limit))
    }

    fn newest(&self) -> Reply<u64> {
        self.readers.read(|reader| journal::newest(&reader.connection))
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
        self.blocking.run(work);
    }

    fn pinned(&self, now: Millis) -> Option<PinnedLog> {
        let checkpoints = &self.writing.as_ref()?.checkpoints;
        let Source { path, settings, .. } = &self.source;
        checkpoints.wake_if_large(path, settings.checkpoint_frames);
        checkpoints.pinned.look(now, || pinned::readers(path).unwrap_or_default())
    }

    fn reading(&self) -> Option<BTreeSet<u32>> {
        pinned::readers(&self.source.path)
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
