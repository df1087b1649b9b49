//! The test environment: a folder, a database, a server and the program.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use machine::{
    Id,
    contract::AnyExecution,
    store::{MachineLine, OpenError, Query, Store},
    view::Label,
};
use mailin::{Response, response};
use pollster::block_on;
use tempfile::TempDir;

use crate::{
    desk::BOB,
    server::{SmtpServer, Step},
    testing::Process,
};

/// The environment of one test.
pub struct World {
    pub folder: TempDir,
    pub server: SmtpServer,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| response::OK)
    }

    pub fn with(policy: impl Fn(Step<'_>) -> Response + Send + Sync + 'static) -> Self {
        let folder = TempDir::new().unwrap();
        let server = SmtpServer::start(&folder.path().join("mails"), policy).unwrap();
        Self { folder, server }
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// The program with these arguments, not started yet.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_send_email"));
        command.args(arguments.split_whitespace()).arg("--db").arg(self.db());
        if arguments.starts_with("work") {
            command.args(["--smtp", &self.server.address()]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, arguments: &str) -> Process {
        Process::start(&mut self.command(arguments))
    }

    /// Runs a command that must succeed; returns its output.
    pub fn ok(&self, arguments: &str) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", errors(&output));
        printed(&output)
    }

    /// Tries again while processes keep the file busy.
    pub fn store(&self) -> Store {
        loop {
            match block_on(Store::sqlite(self.db())) {
                Err(OpenError::Unavailable(error)) if error.is_busy() => {}
                opened => return opened.unwrap(),
            }
        }
    }

    pub fn list(&self, query: &Query) -> Vec<MachineLine> {
        let page = block_on(self.store().list(query)).unwrap();
        page.items.into_iter().map(Result::unwrap).collect()
    }

    pub fn load(&self, id: Id) -> AnyExecution {
        block_on(self.store().load(id)).unwrap()
    }

    pub fn label(&self, id: Id) -> Label {
        Label::of(&self.load(id))
    }

    /// Verifies every history in the database, and that no lock file is left.
    pub fn verify(&self) {
        let store = self.store();
        let report = block_on(store.verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert!(report.machines >= 2, "{report:?}");
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let locks: Vec<String> = names.filter(|name| name.contains("-worker-")).collect();
        assert!(locks.is_empty(), "{locks:?}");
    }

    /// Asks for a mail to bob, and approves it.
    pub fn approved(&self) -> Id {
        let printed = self.ok(&format!("ask {BOB}"));
        let asked = printed.lines().find(|line| line.contains("  [WAITING] approval of ")).unwrap();
        let gate: Id = asked.split_whitespace().next().unwrap().parse().unwrap();
        self.ok(&format!("approve --yes {gate} --as ann"));
        self.list(&Query::new().behind(gate))[0].id
    }
}

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
