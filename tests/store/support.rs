//! A store in a temporary folder, with access to its file that bypasses the library.

use std::{fmt::Write, path::PathBuf};

use machine::{
    Id,
    actor::ToolNode,
    contract::{
        AnyExecution, Applied, Contract, Execution, NotDone, Outcome, Permit, Settled,
        execution::{Completed, Pending, Running, Status},
    },
    store::{SqliteStore, StoreError},
};
use tempfile::TempDir;

/// A store in a folder that is removed with it.
pub(crate) struct Place {
    pub(crate) store: SqliteStore,
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("agent.db")).unwrap();
        Self { store, folder }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// Another store on the same file, like in another process.
    pub(crate) fn open_again(&self) -> SqliteStore {
        SqliteStore::open(self.file()).unwrap()
    }

    /// A plain SQLite connection.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    /// Edits the file; returns the number of changed rows.
    pub(crate) fn edit(&self, sql: &str, id: Id) -> usize {
        self.raw().execute(sql, [id.to_string()]).unwrap()
    }

    /// The content of all tables, as text.
    pub(crate) fn dump(&self) -> String {
        let raw = self.raw();
        ["SELECT * FROM instance ORDER BY id", "SELECT * FROM journal ORDER BY seq"]
            .map(|sql| {
                let mut select = raw.prepare(sql).unwrap();
                let columns = select.column_count();
                let mut rows = select.query([]).unwrap();
                let mut text = String::new();
                while let Some(row) = rows.next().unwrap() {
                    for column in 0..columns {
                        write!(text, "{:?}|", row.get_ref(column).unwrap()).unwrap();
                    }
                    text.push('\n');
                }
                text
            })
            .join("\n")
    }

    /// The lock files of workers.
    pub(crate) fn worker_files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files
            .map(|file| file.unwrap().path())
            .filter(|path| path.to_string_lossy().contains("-worker-"))
            .collect()
    }

    pub(crate) async fn stored(&self, contract: Contract) -> Execution<Pending> {
        let mut pending = Execution::new(contract);
        self.store.create(&mut pending).await.unwrap();
        pending
    }

    pub(crate) async fn begun(&self, contract: Contract) -> (Execution<Running>, Permit) {
        let pending = self.stored(contract).await;
        self.store.begin(pending, &ToolNode).await.unwrap()
    }

    /// A second copy of the same execution, loaded like in another process.
    pub(crate) async fn pending(&self, id: Id) -> Execution<Pending> {
        pending(&self.store, id).await
    }

    pub(crate) async fn status(&self, id: Id) -> Status {
        self.store.load::<AnyExecution>(id).await.unwrap().status()
    }

    pub(crate) async fn done(&self, contract: Contract) -> Execution<Completed> {
        let (running, permit) = self.begun(contract).await;
        let outcome = applied(permit, "sent").await;
        match self.store.settle(running, outcome, &ToolNode).await.unwrap() {
            Settled::Completed(completed) => completed,
            other => panic!("expected COMPLETED, found {other:?}"),
        }
    }
}

/// The execution, which must be PENDING.
pub(crate) async fn pending(store: &SqliteStore, id: Id) -> Execution<Pending> {
    match store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Pending(pending) => pending,
        other => panic!("expected PENDING, found {other:?}"),
    }
}

pub(crate) async fn applied(permit: Permit, receipt: &str) -> Outcome {
    permit.call(async |_permit| Ok(Applied::new(receipt))).await
}

pub(crate) async fn not_applied(permit: Permit, reason: &str) -> Outcome {
    permit.call(async |_permit| Err(NotDone::not_applied(reason))).await
}

pub(crate) async fn unknown(permit: Permit, reason: &str) -> Outcome {
    permit.call(async |_permit| Err(NotDone::unknown(reason))).await
}

/// Begins the execution: takes its key and returns the permit.
pub(crate) async fn begin(
    store: &SqliteStore,
    pending: Execution<Pending>,
) -> Result<(Execution<Running>, Permit), StoreError> {
    store.begin(pending, &ToolNode).await
}
