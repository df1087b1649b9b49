//! The test environment: a folder, a database, a server and the program.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use machine::{
    Id,
    contract::AnyExecution,
    store::{Line, Query, blocking::Store},
    stored::History,
};
use tempfile::TempDir;

use crate::server::{Policy, SmtpServer, TakeAll};

/// The environment of one test.
pub struct World {
    pub folder: TempDir,
    pub server: SmtpServer,
}

impl World {
    pub fn new() -> Self {
        Self::with(TakeAll)
    }

    pub fn with(policy: impl Policy) -> Self {
        let folder = TempDir::new().unwrap();
        let server = SmtpServer::start(&folder.path().join("mails"), policy).unwrap();
        Self { folder, server }
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// The program with these arguments, not started yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_send_email"));
        command.args(arguments).arg("--db").arg(self.db());
        if matches!(arguments, ["approve" | "retry", ..]) {
            command.args(["--smtp", &self.server.address()]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; returns what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must report an error; returns the error.
    pub fn fails(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        errors
    }

    pub fn store(&self) -> Store {
        Store::sqlite(self.db()).unwrap()
    }

    pub fn list(&self) -> Vec<Line> {
        let page = self.store().list(&Query::new()).unwrap();
        assert!(page.next.is_none(), "a test has at most one page of machines");
        page.items.into_iter().map(Result::unwrap).collect()
    }

    pub fn load(&self, id: Id) -> AnyExecution {
        self.store().load(id).unwrap()
    }

    pub fn history(&self, id: Id) -> History {
        self.store().history(id).unwrap()
    }

    /// Verifies every history in the database.
    pub fn verify(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let report = runtime.block_on(self.store().get().verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert!(report.machines >= 2, "{report:?}");
    }

    /// Asks for a mail to bob; returns the ids of the question and of the mail.
    pub fn ask(&self) -> (Id, Id) {
        self.ok(&["ask", "--to", "bob@example.com"]);
        let listed = self.list();
        let mail = listed.iter().rfind(|line| line.behind.is_some()).unwrap();
        (mail.behind.unwrap(), mail.id)
    }
}

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
