//! A folder with a database and an office, and the program on them.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use machine::{
    Id,
    actor::{Actors, Human},
    store::{MachineLine, Message, Query, Store},
};
use pollster::block_on;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    submit::{Submitted, submit},
    testing::{Process, STUCK},
};

pub struct Site(TempDir);

impl Site {
    /// An office with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let site = Self(TempDir::new().unwrap());
        fs::create_dir(site.office()).unwrap();
        for (name, text) in files {
            fs::write(site.path(name), text).unwrap();
        }
        site
    }

    /// The folder of the office.
    pub fn office(&self) -> PathBuf {
        self.0.path().join("engine.office")
    }

    fn path(&self, file: &str) -> PathBuf {
        self.office().join(file)
    }

    /// The content of a file of the office.
    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A service keeps its answers back, after the effect of a call.
    pub fn hold_answers(&self, service: &str) {
        fs::write(self.path(&format!("{service}.slow")), "").unwrap();
    }

    /// It answers again.
    pub fn release_answers(&self, service: &str) {
        fs::remove_file(self.path(&format!("{service}.slow"))).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workflow_engine"));
        command.args(words).arg("--db").arg(self.0.path().join("engine.db"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("TZ", "UTC");
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Submits a task; returns the ids of its record and its engine.
    pub fn submit(&self, goal: &str) -> [String; 2] {
        let told = self.ok(&["submit", "--goal", goal]);
        let id = |line: &str| line.split(' ').next().unwrap().to_owned();
        told.lines().map(id).collect::<Vec<_>>().try_into().unwrap()
    }

    /// Starts the engines.
    pub fn start(&self) -> Process {
        Process::start(self.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::inherit()))
    }

    /// The database, with these tasks.
    pub fn store(&self, goals: &[&str]) -> (Store, Vec<Submitted>) {
        let store = block_on(Store::sqlite(self.0.path().join("engine.db"))).unwrap();
        let runner = Actors::issue("engine").unwrap().graph_runner;
        let limit = Duration::from_hours(1);
        let submitted = |goal: &&str| block_on(submit(&store, goal, limit, &runner)).unwrap();
        let tasks = goals.iter().map(submitted).collect();
        (store, tasks)
    }
}

/// The machines of a kind in a state; all without one.
pub fn list(store: &Store, machine: &str, status: Option<&str>) -> Vec<MachineLine> {
    let query = Query::new().machine(machine);
    let query = match status {
        Some(status) => query.status(status),
        None => query,
    };
    block_on(store.list(&query)).unwrap().items.into_iter().map(Result::unwrap).collect()
}

/// Ann sends an event, if she has looked for the state after this number of moves.
pub fn say(store: &Store, engine: Id, event: &Value, seen: Option<u64>) {
    let message = Message::new(event, &Human::new("ann").unwrap()).unwrap();
    let message = match seen {
        Some(seen) => message.unless_moved(seen),
        None => message,
    };
    block_on(store.send(engine, &message)).unwrap();
}

/// Waits until something is so.
pub fn until(what: impl Fn() -> String, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < STUCK, "{}", what());
        std::thread::sleep(Duration::from_millis(2));
    }
}
