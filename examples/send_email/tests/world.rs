//! The test environment: a folder, a database, a server and the program.

use pollster::block_on;
use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
};

use machine::{
    Id,
    contract::AnyExecution,
    store::{MachineLine, OpenError, Query, Store},
    stored::History,
    view::{ConsequenceView, Label},
};
use machine_tests::process::between_commits;
use mailin::{Response, response};
use tempfile::TempDir;

use crate::{
    mail::NotSent,
    server::{SmtpServer, Step},
    testing::{Process, signal},
};

/// The environment of one test.
pub struct World {
    pub folder: TempDir,
    pub server: SmtpServer,
    /// The process that the server freezes when it has its mail.
    to_freeze: Arc<Mutex<Option<u32>>>,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| response::OK)
    }

    pub fn with(policy: impl Fn(Step<'_>) -> Response + Send + Sync + 'static) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("agent.db");
        let to_freeze = Arc::new(Mutex::new(None));
        let process = Arc::clone(&to_freeze);
        let server = SmtpServer::start(&folder.path().join("mails"), move |step| {
            if matches!(step, Step::Stored(_))
                && let Some(process) = process.lock().unwrap().take()
            {
                between_commits(&file, || signal(process, "STOP"));
            }
            policy(step)
        })
        .unwrap();
        Self { folder, server, to_freeze }
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

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed; returns its output.
    pub fn ok(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", errors(&output));
        printed(&output)
    }

    /// Runs a command that must report an error; returns the error.
    pub fn fails(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {errors}");
        errors
    }

    /// Runs a command whose arguments must be refused; returns the error.
    pub fn misused(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        errors
    }

    /// The machines that need attention, as the command line shows them; empty if there are none.
    pub fn attention(&self) -> String {
        self.ok("list --attention-only")
    }

    /// A machine, as the command line shows it.
    pub fn show(&self, id: Id) -> String {
        self.ok(&format!("show {id}"))
    }

    /// Runs a worker until nothing is ready; returns its output.
    pub fn work(&self) -> String {
        self.ok("work --once")
    }

    /// Starts a worker, and waits until the server has its mail and has frozen it. `None` if it
    /// ends without a mail.
    pub fn start_and_freeze(&self, arguments: &str) -> Option<Process> {
        let received = self.server.received();
        // Locked, so that the server knows the process before it hears from it.
        let mut to_freeze = self.to_freeze.lock().unwrap();
        let mut child = self.start(arguments);
        *to_freeze = Some(child.id());
        drop(to_freeze);
        while self.server.received() == received || self.to_freeze.lock().unwrap().is_some() {
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::yield_now();
        }
        Some(child)
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

    pub fn list(&self) -> Vec<MachineLine> {
        let page = block_on(self.store().list(&Query::new())).unwrap();
        assert!(page.next.is_none(), "a test has at most one page of machines");
        page.items.into_iter().map(Result::unwrap).collect()
    }

    pub fn load(&self, id: Id) -> AnyExecution {
        block_on(self.store().load(id)).unwrap()
    }

    pub fn label(&self, id: Id) -> Label {
        ConsequenceView::of(&self.load(id)).consequence_label
    }

    /// The refusal of the mail server, as a view has it.
    pub fn refusal(&self, id: Id) -> Option<NotSent> {
        let view = ConsequenceView::of(&self.load(id));
        view.refusal.clone().map(|refusal| serde_json::from_value(refusal).unwrap())
    }

    pub fn history(&self, id: Id) -> History {
        block_on(self.store().history(id)).unwrap()
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

    /// Asks for a mail to bob; returns the ids of the question and of the mail.
    pub fn ask(&self) -> (Id, Id) {
        self.ask_for("--to bob@example.com")
    }

    pub fn ask_for(&self, options: &str) -> (Id, Id) {
        let printed = self.ok(&format!("ask {options}"));
        let asked = printed.lines().find(|line| line.contains("  [WAITING] approve ")).unwrap();
        let gate = asked.split_whitespace().next().unwrap().parse().unwrap();
        let page = block_on(self.store().list(&Query::new().behind(gate))).unwrap();
        let [Ok(mail)] = &page.items[..] else { panic!("{page:?}") };
        (gate, mail.id)
    }
}

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
