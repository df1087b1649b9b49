use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::Connection;

use super::{
    agenda, attempts, blocking::Blocking, definitions, journal, readers::Readers, row, select,
    writing::Writing,
};
use crate::{
    id::Id,
    journal::Line,
    store::{
        OpenError, Unavailable,
        attempt::Attempt,
        backend::{
            Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions,
            Doorbell, Filter, Found, Identity, JournalOf, Messages, Rejected, Sequenced, Settings,
            Task,
        },
        message::Received,
    },
};

/// A SQLite file. All work on it is done by threads; this is their handle. They end when it is closed
/// or dropped.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    identity: Identity,
    readers: Arc<Readers>,
    blocking: Blocking,
    /// None if the file was opened for reading only.
    writing: Option<Writing>,
}

impl Sqlite {
    pub(super) fn start(
        path: PathBuf,
        settings: Settings,
        identity: Identity,
        writer: Connection,
        reader: Connection,
    ) -> Result<Self, OpenError> {
        let readers = Arc::new(Readers::start(path.clone(), settings, reader)?);
        let writing =
            Writing::start(&path, settings, writer, &readers).inspect_err(|_| readers.close())?;
        let (blocking, writing) = (Blocking::default(), Some(writing));
        Ok(Self { path, identity, readers, blocking, writing })
    }

    /// A file that is only read, and not changed in any way. It has one connection: opening it a
    /// second time could create files next to it.
    pub(super) fn start_for_reading(
        path: PathBuf,
        settings: Settings,
        identity: Identity,
        reader: Connection,
    ) -> Result<Self, OpenError> {
        let readers = Arc::new(Readers::start_one(path.clone(), settings, reader)?);
        Ok(Self { path, identity, readers, blocking: Blocking::default(), writing: None })
    }

    /// The file, without symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(test)]
    pub(super) fn fault(&self) -> &super::tests::Fault {
        &self.writing.as_ref().expect("it was opened for writing").fault
    }

    /// Accepts nothing more. The writing thread finishes what is queued, and closes the file.
    fn stop(&self) {
        if let Some(writing) = &self.writing {
            writing.stop();
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
        self.identity
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        match &self.writing {
            Some(writing) => writing.apply(batch),
            None => {
                Box::pin(async { Err(Unavailable::other("the file was opened for reading only")) })
            }
        }
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

    fn journals(&self, session: String) -> Answer<Vec<JournalOf>> {
        self.readers.read(move |reader| journal::of_session(reader, &session))
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

    fn holders(&self) -> Answer<Vec<String>> {
        self.readers.read(|reader| agenda::holders(&reader.connection))
    }

    fn task(&self, id: Id) -> Answer<Task> {
        self.readers.read(move |reader| agenda::task(reader, id))
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.readers.read(move |reader| agenda::messages(&reader.connection, &reader.key, &which))
    }

    fn set_aside(&self) -> Answer<Vec<(Id, Option<String>)>> {
        self.readers.read(|reader| agenda::set_aside(&reader.connection))
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.readers.read(move |reader| agenda::children(&reader.connection, &reader.key, parent))
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.readers.read(|reader| definitions::read(&reader.connection))
    }

    fn newest(&self) -> Answer<u64> {
        self.readers.read(journal::newest)
    }

    fn on_commit(&self, doorbell: Doorbell) {
        // What is only read does not change.
        if let Some(writing) = &self.writing {
            writing.on_commit(doorbell);
        }
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        self.blocking.run(work);
    }

    fn close(&self) -> Answer<()> {
        self.stop();
        let Some(writing) = &self.writing else {
            // This blocks only until the read in progress ends.
            self.readers.join();
            return Box::pin(async { Ok(()) });
        };
        writing.closed()
    }
}
