//! A store in a file, and access to the file that bypasses the library.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};

use machine::{
    Id,
    contract::{
        Action, AnyExecution, CallFact, Callable, Contract, Execution, Gate, InDoubt, Permit,
        Planned, Settled, ToolSpec, Unsettled,
        execution::{Cancelled, Completed, Pending, Running, Status},
    },
    effects::{Change, EffectError},
    journal::Entry,
    store::{MachineLine, OpenOptions, Problem, Query, Store, VerifyReport},
    stored::Durable,
    view::{ConsequenceView, View},
};
use machine_tests::{
    Begin,
    actors::{ecs_node, reasoning_node, tool_node},
    stores,
};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) use machine_tests::{
    hand::{Hand, START},
    service::{applied, not_applied},
    stores::{block_on, lines, new_file},
};

/// Runs tests on a SQLite file; each takes a [`Place`]. That a store in memory does the same is
/// tested by the conformance suite and by the models of `effects` and `durability`.
macro_rules! on_file {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test($crate::store::support::Place::new().await).await;
                }
            )*
        }
    };
}
pub(crate) use on_file;

/// A store in a folder that is removed with it.
pub(crate) struct Place {
    pub(crate) store: Store,
    options: OpenOptions,
    pub(crate) folder: TempDir,
}

impl Place {
    /// A SQLite file.
    pub(crate) async fn new() -> Self {
        Self::with(OpenOptions::new()).await
    }

    /// A SQLite file, opened with these options.
    pub(crate) async fn with(options: OpenOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
        Self { store, options, folder }
    }

    /// An empty store with the same options.
    pub(crate) async fn another(&self) -> Self {
        Self::with(self.options.clone()).await
    }

    /// An empty store with the same options and this clock.
    pub(crate) async fn with_clock(&self, clock: &Hand) -> Self {
        Self::with(self.options.clone().clock(clock.clone())).await
    }

    /// An empty store with a clock that the test controls.
    pub(crate) async fn clocked(&self) -> (Self, Hand) {
        let clock = Hand::at(START);
        (self.with_clock(&clock).await, clock)
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder().join("agent.db")
    }

    /// Another store on the same file, like in another process.
    pub(crate) async fn open_again(&self) -> Store {
        self.options.sqlite(self.file()).await.unwrap()
    }

    /// The store, closed and opened again.
    pub(crate) async fn reopened(mut self) -> Self {
        self.store.close().await.unwrap();
        self.store = self.open_again().await;
        self
    }

    /// The problems that a full verification finds in a copy of the closed file after an edit.
    pub(crate) async fn problems_after(&self, sql: &str) -> Vec<Problem> {
        let (_folder, file) = new_file();
        std::fs::copy(self.file(), &file).unwrap();
        let raw = Connection::open(&file).unwrap();
        drop_triggers(&raw);
        raw.execute_batch(sql).unwrap();
        drop(raw);
        // Missing triggers are no problem.
        let store = self.options.sqlite(file).await.unwrap();
        store.verify_all(|_| {}).await.unwrap().problems
    }

    /// A plain SQLite connection.
    pub(crate) fn raw(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// A plain SQLite connection to a file that no longer has the triggers against mistakes.
    pub(crate) fn unprotected(&self) -> Connection {
        let raw = self.raw();
        drop_triggers(&raw);
        raw
    }

    /// Edits the file; returns the number of changed rows. `?1` is the id of a machine, and `?2`
    /// its number.
    pub(crate) fn edit(&self, sql: &str, id: Id) -> usize {
        edit(&self.unprotected(), sql, id)
    }

    /// Everything that is stored, as text.
    pub(crate) fn dump(&self) -> String {
        dump(&self.raw())
    }

    /// All machines that a query selects.
    pub(crate) async fn lines(&self, query: &Query) -> Vec<MachineLine> {
        lines(&self.store, query).await
    }

    /// The lock files of workers.
    pub(crate) fn worker_files(&self) -> Vec<PathBuf> {
        let names = names(self.folder()).into_iter();
        names
            .filter(|name| name.contains("-worker-"))
            .map(|name| self.folder().join(name))
            .collect()
    }

    /// Stores a new machine.
    pub(crate) async fn created<M: Durable>(&self, mut machine: M) -> M {
        self.store.create(&mut machine).await.unwrap();
        machine
    }

    /// Stores the moves of a machine.
    pub(crate) async fn committed<M: Durable>(&self, mut machine: M) -> M {
        self.store.commit(&mut machine).await.unwrap();
        machine
    }

    /// Everything that is stored is sound.
    pub(crate) async fn assert_intact(&self) -> VerifyReport {
        stores::assert_intact(&self.store).await
    }

    pub(crate) async fn stored(&self, contract: Contract) -> Execution<Pending> {
        self.created(Execution::new(contract)).await
    }

    pub(crate) async fn begun(&self, contract: Contract) -> (Execution<Running>, Permit<Action>) {
        stores::begun(&self.store, contract).await
    }

    pub(crate) async fn settled(&self, running: Execution<Running>, outcome: Unsettled) -> Settled {
        self.store.settle(running, outcome, tool_node()).await.unwrap()
    }

    /// A second copy of the same execution, loaded like in another process.
    pub(crate) async fn pending(&self, id: Id) -> Execution<Pending> {
        pending(&self.store, id).await
    }

    /// The execution, which must be CANCELLED.
    pub(crate) async fn cancelled(&self, id: Id) -> Execution<Cancelled> {
        match self.store.load::<AnyExecution>(id).await.unwrap() {
            AnyExecution::Cancelled(cancelled) => cancelled,
            other => panic!("expected CANCELLED, found {other:?}"),
        }
    }

    pub(crate) async fn status(&self, id: Id) -> Status {
        stores::status(&self.store, id).await
    }

    /// The whole journal of a machine.
    pub(crate) async fn entries(&self, id: Id) -> Vec<Entry> {
        self.store.history(id).await.unwrap().entries
    }

    /// Stores an action behind a gate that waits for its answer.
    pub(crate) async fn asked(&self, contract: Contract) -> (Gate, Planned<Action>) {
        let (mut gate, mut planned) = gated(contract);
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }

    /// An execution whose permit was dropped, and which was parked in doubt for that.
    pub(crate) async fn doubtful(&self, contract: Contract) -> InDoubt {
        let (running, permit) = self.begun(contract).await;
        drop(permit);
        let mut found = self.recovered().await;
        found.retain(|doubt| doubt.id() == running.id());
        found.pop().unwrap()
    }

    /// The facts about the call and the approval of an execution in its journal.
    pub(crate) async fn facts(&self, id: Id) -> Vec<CallFact> {
        self.entries(id).await.iter().filter_map(CallFact::of).collect()
    }

    /// A reasoner's view of an execution.
    pub(crate) async fn view(&self, id: Id) -> View<ConsequenceView> {
        ConsequenceView::of(&self.store.load::<AnyExecution>(id).await.unwrap())
    }

    pub(crate) async fn done(&self, contract: Contract) -> Execution<Completed> {
        let (running, permit) = self.begun(contract).await;
        let outcome = applied(permit, "sent").await;
        match self.settled(running, outcome).await {
            Settled::Completed(completed) => completed,
            other => panic!("expected COMPLETED, found {other:?}"),
        }
    }

    /// The executions in doubt; nothing else must be found.
    pub(crate) async fn recovered(&self) -> Vec<InDoubt> {
        recovered(&self.store).await
    }
}

/// The executions in doubt; nothing else must be found.
pub(crate) async fn recovered(store: &Store) -> Vec<InDoubt> {
    let recovered = store.recover().await.unwrap();
    assert!(recovered.failed.is_empty(), "{:?}", recovered.failed);
    assert!(recovered.settled.is_empty(), "{:?}", recovered.settled);
    assert!(recovered.interrupted.is_empty(), "{:?}", recovered.interrupted);
    recovered.in_doubt
}

/// The names of the files in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Every file in a folder with its content. Those who read a log share its memory, which is no
/// content.
pub(crate) fn content(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let names = names(folder);
    let has_log = names.iter().any(|name| name.ends_with("-wal"));
    let kept = names.into_iter().filter(|name| !(has_log && name.ends_with("-shm")));
    kept.map(|name| (name.clone(), std::fs::read(folder.join(name)).ok())).collect()
}

/// Drops the triggers that refuse mistakes, like an attacker.
pub(crate) fn drop_triggers(raw: &Connection) {
    let mut select = raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let names = select.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.map(Result::unwrap).collect();
    for name in names {
        raw.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
    }
}

/// Edits a file without triggers; returns the number of changed rows. `?1` is the id of a machine,
/// and `?2` its number.
pub(crate) fn edit(raw: &Connection, sql: &str, id: Id) -> usize {
    let id = blob(id);
    let number = raw.query_row("SELECT no FROM instance WHERE id = ?1", [id], |row| row.get(0));
    let number: i64 = number.unwrap();
    let mut statement = raw.prepare(sql).unwrap();
    let parameters: &[&dyn rusqlite::ToSql] = &[&id, &number];
    let used = statement.parameter_count();
    statement.execute(&parameters[..used]).unwrap()
}

/// An id as the file has it.
pub(crate) fn blob(id: Id) -> [u8; 16] {
    u128::from_str_radix(&id.to_string().replace('-', ""), 16).unwrap().to_be_bytes()
}

/// The content of all tables, as text.
pub(crate) fn dump(raw: &Connection) -> String {
    let tables = [
        ("store", "1"),
        ("definition", "no"),
        ("instance", "no"),
        ("context", "instance"),
        ("journal", "seq"),
        ("attempt", "no"),
        ("tool", "name"),
    ];
    let table = |(table, order)| {
        let sql = format!("SELECT * FROM {table} ORDER BY {order}");
        let mut select = raw.prepare(&sql).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        let mut text = format!("{table}\n");
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                write!(text, "{:?}|", row.get_ref(column).unwrap()).unwrap();
            }
            text.push('\n');
        }
        text
    };
    tables.map(table).join("\n")
}

/// The execution, which must be PENDING.
pub(crate) async fn pending(store: &Store, id: Id) -> Execution<Pending> {
    match store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Pending(pending) => pending,
        other => panic!("expected PENDING, found {other:?}"),
    }
}

/// Begins the execution: takes its key and returns the permit.
pub(crate) async fn begin<T: Callable>(
    store: &Store,
    pending: impl Into<Planned<T>>,
) -> Result<(Execution<Running>, Permit<T>), EffectError> {
    store.begin(pending, tool_node()).await.map_err(|refused| refused.reason)
}

/// The start of an execution, as a part of a batch.
pub(crate) fn begin_of(pending: Execution<Pending>) -> Begin {
    Change::begin(pending.into(), tool_node())
}

/// Sends a mail that can still take effect for a minute after its worker ended.
pub(crate) fn slow_mail(to: &str) -> Contract {
    let tool = ToolSpec::irreversible("slow", "send").unwrap();
    let arguments = serde_json::json!({ "to": to }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
}

/// Puts an action behind a gate that waits for its answer; neither is stored yet.
pub(crate) fn gated(contract: Contract) -> (Gate, Planned<Action>) {
    contract.ask(None, ecs_node()).unwrap()
}
