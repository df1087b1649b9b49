//! A file with machines in it, and the program.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use machine::{
    Id,
    contract::{Action, AnyExecution, Gate, NotDone, Planned, Settled},
    machine,
    store::{OpenOptions, Store},
    view::Label,
};
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{answers, mail},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a file in it.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) store: Store,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(OpenOptions::new()).await
    }

    pub(crate) async fn with(options: OpenOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
        Self { folder, store }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// The program with these arguments, on this file.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bare(&["--db"]);
        command.arg(self.file()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// The document that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<_> = arguments.iter().copied().chain(["--json"]).collect();
        let ran = self.run(&arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
        serde_json::from_str(&ran.out).unwrap()
    }

    /// A mail behind a gate.
    pub(crate) async fn ask(&self, to: &str) -> (Gate, Planned<Action>) {
        let (mut gate, mut planned) = mail(to).ask::<Action>(None, ecs_node()).unwrap();
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }
}

/// The program with these arguments.
pub(crate) fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machine-cli"));
    command
        .args(arguments)
        .env_remove("MACHINE_DB")
        .env_remove("NO_COLOR")
        // A build server is taken for a terminal with colours, whatever `TERM` says.
        .env_remove("CI")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("TERM", "xterm")
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

/// The result of running a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        Self {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// It ended with this code, and said this to people.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, text: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.contains(text), "{text:?} is not in {self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    /// It is done; what it said.
    #[track_caller]
    pub(crate) fn done(&self) -> &str {
        assert_eq!(self.code, 0, "{self:?}");
        &self.out
    }
}

/// The last digits of an id.
pub(crate) fn end(id: Id) -> String {
    let digits = id.to_string().replace('-', "");
    digits[20..].to_owned()
}

/// A machine of the program's own.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    #[initial]
    #[stable]
    #[on(confirm(amount, note) => Paying, by = machine::actor::Human)]
    #[on(cancel(reason) => Cancelled, by = machine::actor::Human)]
    Asking,
    #[stable]
    #[on(audit => Paid, by = machine::actor::GraphRunner)]
    #[on(accept => Paid, by = machine::actor::Human)]
    Paying {
        #[audience(human)]
        amount: u32,
        note: Option<String>,
    },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled { reason: String },
}

impl Place {
    /// A stored order that waits.
    pub(crate) async fn order(&self) -> Id {
        let mut order = Order::new();
        self.store.create(&mut order).await.unwrap();
        order.id()
    }

    /// An execution in doubt, whose worker is this process.
    pub(crate) async fn doubt(&self, to: &str) -> Id {
        let mut planned = Planned::<Action>::new(mail(to)).unwrap();
        self.store.plan(&mut planned).await.unwrap();
        let id = planned.id();
        let unknown = answers(Err(NotDone::unknown("connection lost")));
        let settled = self.store.perform(planned, unknown, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::InDoubt(_)), "{settled:?}");
        id
    }

    /// An execution that failed.
    pub(crate) async fn failed(&self, to: &str) -> Id {
        let mut planned = Planned::<Action>::new(mail(to)).unwrap();
        self.store.plan(&mut planned).await.unwrap();
        let id = planned.id();
        let refused = answers(Err(NotDone::not_applied("mailbox full")));
        let settled = self.store.perform(planned, refused, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Failed(_)), "{settled:?}");
        id
    }

    pub(crate) async fn label(&self, id: Id) -> Label {
        Label::of(&self.store.load::<AnyExecution>(id).await.unwrap())
    }

    /// Edits a machine, bypassing the library.
    pub(crate) fn edit(&self, id: Id, sql: &str) {
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        raw.pragma_update(None, "foreign_keys", 0).unwrap();
        let mut select =
            raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let names: Vec<String> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names {
            raw.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
        }
        let digits = id.to_string().replace('-', "");
        let changed = raw.execute(&sql.replace("ID", &format!("x'{digits}'")), []).unwrap();
        assert!(changed > 0, "{sql}");
    }

    /// The position of the store, as the library reports it.
    pub(crate) async fn position(&self) -> String {
        self.store.position().await.unwrap().to_string()
    }
}
