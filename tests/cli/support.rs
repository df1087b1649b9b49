//! A file with machines in it, and the program.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use machine::{
    Id,
    contract::{Action, Gate, Planned},
    machine,
    store::{OpenOptions, Store},
};
use machine_tests::{actors::ecs_node, samples::mail};
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
        let mut command = bare(arguments);
        command.arg("--db").arg(self.file());
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
    command.args(arguments).env_remove("MACHINE_DB").env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// What a program did.
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
