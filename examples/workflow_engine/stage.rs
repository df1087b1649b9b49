//! The stage of the story: each command is a separate process, in a temporary folder.

use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use machine::{
    Id,
    store::{Query, blocking::Store},
    view::{Human, NextStep, Observer},
};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::{
    run::office,
    show::{self, Log, say},
};

/// The time limit of the story for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with a store, the tasks that were submitted, and the processes that work on them.
pub struct Stage {
    folder: TempDir,
    pub store: Store,
    /// The notifications for people, from any engine.
    log: Log,
    pub tasks: Vec<Submitted>,
    /// The engine, and the server of the page.
    processes: Vec<Child>,
}

/// A task of the story.
pub struct Submitted {
    goal: &'static str,
    pub record: Id,
    /// The machine that works on it.
    engine: Id,
}

impl Drop for Stage {
    /// No process outlives a story that fails.
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Stage {
    pub fn begin() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("workflow_engine-").context("cannot create a folder")?;
        let db = folder.path().join("engine.db");
        let office = office(&db);
        fs::create_dir(&office)?;
        fs::write(office.join("invoice.txt"), "500\n")?;
        fs::write(office.join("site.down"), "retry\nretry\nretry\n")?;
        let store = Store::sqlite(&db)?;
        let log = store.wait(Log::begin(store.get()))?;
        Ok(Self { folder, store, log, tasks: Vec::new(), processes: Vec::new() })
    }

    pub fn submit(&mut self, goal: &'static str) -> anyhow::Result<()> {
        let mut submit = self.command();
        submit.args(["submit", "--goal", goal]);
        say(format_args!("  $ workflow_engine submit --goal {goal:?}"));
        let output = submit.stderr(Stdio::inherit()).output()?;
        let told = String::from_utf8(output.stdout)?;
        let mut ids = told.split_whitespace().filter_map(|word| word.parse().ok());
        let (record, engine) = ids.next().zip(ids.next()).context("nothing was submitted")?;
        self.tasks.push(Submitted { goal, record, engine });
        Ok(())
    }

    /// Ann answers the engine that works on this task, with the command that the library shows her.
    pub fn answer(&self, goal: &str, trigger: &str, with: &[(&str, &str)]) -> anyhow::Result<()> {
        let id = self.task(goal)?.engine;
        let next = self.store.wait(Observer::new(self.store.get()).next(id))?;
        let is_it = |step: &&NextStep| match step {
            NextStep::SendEvent { trigger: it, .. } => it == trigger,
            _ => false,
        };
        let shown = next.iter().find(is_it).context("it does not ask for that")?.to_string();
        // Ann fills in what the command leaves open.
        let command = shown.split(" --payload").next().unwrap_or(&shown);
        let command = command.replace("NAME", "ann").replace(&id.to_string(), &show::short(id));
        self.by_ann(&command, with)
    }

    /// Ann has an engine pause, whatever it does.
    pub fn pause(&self, goal: &str, note: &str) -> anyhow::Result<()> {
        let engine = show::short(self.task(goal)?.engine);
        let command = format!("send {engine} request_intervention --as ann");
        self.by_ann(&command, &[("note", note)])
    }

    fn by_ann(&self, command: &str, payload: &[(&str, &str)]) -> anyhow::Result<()> {
        let mut send = self.command();
        send.args(command.split(' '));
        let payload = payload.iter().map(|&(name, text)| (name.to_owned(), text.into()));
        let payload: Map<String, Value> = payload.collect();
        if payload.is_empty() {
            say(format_args!("  $ workflow_engine {command}"));
        } else {
            let payload = Value::Object(payload).to_string();
            say(format_args!("  $ workflow_engine {command} --payload '{payload}'"));
            send.args(["--payload", &payload]);
        }
        let status = send.stdout(Stdio::null()).status()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    /// Starts an engine, whose output is not shown: the story tells the same from the store.
    pub fn start(&mut self) -> anyhow::Result<()> {
        say(format_args!("  $ workflow_engine run"));
        let engine = self.command().arg("run").stdout(Stdio::null()).spawn()?;
        self.processes.push(engine);
        Ok(())
    }

    /// Starts the inspector. It prints the address of its page.
    pub fn serve(&mut self, address: SocketAddr, by: &str) -> anyhow::Result<()> {
        let address = address.to_string();
        say(format_args!("  $ workflow_engine serve --as {by} --listen {address}"));
        let mut serve = self.command();
        serve.args(["serve", "--as", by, "--listen", &address]);
        self.processes.push(serve.spawn()?);
        Ok(())
    }

    /// Kills what was started (SIGKILL).
    pub fn kill(&mut self) -> anyhow::Result<()> {
        for mut process in self.processes.drain(..) {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Returns whether all started processes are still running.
    pub fn is_running(&mut self) -> anyhow::Result<bool> {
        for process in &mut self.processes {
            if process.try_wait()?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The database.
    pub fn db(&self) -> PathBuf {
        self.folder.path().join("engine.db")
    }

    /// Prints the notifications since the last call.
    pub fn tell(&mut self) -> anyhow::Result<()> {
        Ok(self.store.wait(self.log.finish())?)
    }

    fn command(&self) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| "workflow_engine".into());
        let mut command = Command::new(program);
        command.arg("--db").arg(self.db()).stdin(Stdio::null());
        command
    }

    fn task(&self, goal: &str) -> anyhow::Result<&Submitted> {
        self.tasks.iter().find(|task| task.goal == goal).context("there is no such task")
    }

    pub fn payments(&self) -> usize {
        let bank = fs::read_to_string(office(&self.db()).join("bank.txt")).unwrap_or_default();
        bank.lines().count()
    }

    pub fn count(&self, machine: &str, status: &str) -> anyhow::Result<usize> {
        Ok(self.store.list(&Query::new().machine(machine).status(status))?.items.len())
    }

    pub fn until_waiting(&mut self, tasks: usize) -> anyhow::Result<()> {
        self.until("a person is needed", |stage| {
            stage.count("workflow", "manual_intervention").map(|it| it == tasks)
        })
    }

    pub fn until_ended(&mut self, goal: &str) -> anyhow::Result<()> {
        let record = self.task(goal)?.record;
        self.until(goal, |stage| {
            let observer = Observer::new(stage.store.get());
            Ok(stage.store.wait(observer.snapshot::<Human>(record))?.is_terminal)
        })
    }

    /// Prints the notifications until this has happened.
    pub fn until(
        &mut self,
        what: &str,
        condition: impl Fn(&Self) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let has_happened = condition(self)?;
            self.tell()?;
            if has_happened {
                return Ok(());
            }
            ensure!(start.elapsed() < PATIENCE, "this has not happened: {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}
