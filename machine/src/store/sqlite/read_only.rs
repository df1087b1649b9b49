use std::path::Path;

use rusqlite::Connection;

use super::{attempts, blocking::Blocking, definitions, journal, readers::Readers, row, select};
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

/// A SQLite file that is only read, and not changed in any way. It has one connection: opening it a
/// second time could create files next to it.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    identity: Identity,
    readers: Readers,
    blocking: Blocking,
}

impl ReadOnly {
    pub(super) fn start(
        path: &Path,
        settings: Settings,
        identity: Identity,
        connection: Connection,
    ) -> Result<Self, OpenError> {
        let readers = Readers::start_one(path.to_owned(), settings, connection)?;
        Ok(Self { identity, readers, blocking: Blocking::default() })
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        self.readers.close();
        self.blocking.close();
    }
}

impl Backend for ReadOnly {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn apply(&self, _batch: Batch) -> Answer<Result<Applied, Rejected>> {
        Box::pin(async { Err(Unavailable::other("the file was opened for reading only")) })
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

    fn on_commit(&self, _doorbell: Doorbell) {
        // What is read does not change.
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        self.blocking.run(work);
    }

    fn close(&self) -> Answer<()> {
        // Joining blocks only until the read in progress ends.
        self.readers.join();
        self.blocking.close();
        Box::pin(async { Ok(()) })
    }
}
