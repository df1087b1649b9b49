//! The stage of the story: each command is a separate process, in a temporary folder.

use pollster::block_on;
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
    observe::{NextStep, Observer},
    store::{Query, Store},
    view::Human,
};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    run::office,
    show::{self, Log, say},
    submit::Submitted,
    workflow::workflow::{DEFINITION, Status},
};

/// The time limit of the story for anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// A field of an event, which Ann fills in.
type Field<'a> = Option<(&'a str, &'a str)>;

/// A folder with a store, the tasks that were submitted, and the processes that work on them.
pub struct Stage {
    folder: TempDir,
    pub store: Store,
    /// The notifications for people, from any engine.
    log: Log,
    /// By their goals.
    pub tasks: Vec<(&'static str, Submitted)>,
    /// The engine, and the server of the page.
    processes: Vec<Child>,
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
        let store = block_on(Store::sqlite(&db))?;
        let log = block_on(Log::begin(&store))?;
        Ok(Self { folder, store, log, tasks: Vec::new(), processes: Vec::new() })
    }

    pub fn submit(&mut self, goal: &'static str) -> anyhow::Result<()> {
        let mut submit = self.command(&format!("submit --goal {goal:?}"));
        submit.args(["submit", "--goal", goal]).stderr(Stdio::inherit());
        let output = submit.output()?;
        let told = String::from_utf8(output.stdout)?;
        let mut ids = told.split_whitespace().filter_map(|word| word.parse().ok());
        let (record, engine) = ids.next().zip(ids.next()).context("nothing was submitted")?;
        self.tasks.push((goal, Submitted { record, engine }));
        Ok(())
    }

    /// Ann answers the engine that works on this task, with the command that the library shows her.
    pub fn answer(&self, goal: &str, trigger: &str, with: Field<'_>) -> anyhow::Result<()> {
        let id = self.task(goal)?.engine;
        let next = block_on(Observer::new(&self.store).next(id))?;
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

    /// Ann pauses an engine in any state.
    pub fn pause(&self, goal: &str, note: &str) -> anyhow::Result<()> {
        let engine = show::short(self.task(goal)?.engine);
        let command = format!("send {engine} request_intervention --as ann");
        self.by_ann(&command, Some(("note", note)))
    }

    fn by_ann(&self, command: &str, field: Field<'_>) -> anyhow::Result<()> {
        let payload = field.map(|(name, text)| json!({ name: text }).to_string());
        let with = payload.iter().map(|payload| format!(" --payload '{payload}'"));
        let mut send = self.command(&format!("{command}{}", with.collect::<String>()));
        send.args(command.split(' '));
        if let Some(payload) = payload {
            send.args(["--payload", &payload]);
        }
        let status = send.stdout(Stdio::null()).status()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    /// Starts an engine, whose output is not shown: the story tells the same from the store.
    pub fn start(&mut self) -> anyhow::Result<()> {
        let engine = self.command("run").arg("run").stdout(Stdio::null()).spawn()?;
        self.processes.push(engine);
        Ok(())
    }

    /// Starts the inspector. It prints the address of its page.
    pub fn serve(&mut self, address: SocketAddr, by: &str) -> anyhow::Result<()> {
        let serve = format!("serve --as {by} --listen {address}");
        self.processes.push(self.command(&serve).args(serve.split(' ')).spawn()?);
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
        let ended =
            self.processes.iter_mut().map(Child::try_wait).collect::<Result<Vec<_>, _>>()?;
        Ok(ended.iter().all(Option::is_none))
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("engine.db")
    }

    /// Prints the notifications since the last call.
    pub fn tell(&mut self) -> anyhow::Result<()> {
        Ok(block_on(self.log.finish())?)
    }

    /// The program on the database of the story; prints what a person would type.
    fn command(&self, shown: &str) -> Command {
        say(format_args!("  $ workflow_engine {shown}"));
        let program = std::env::current_exe().unwrap_or_else(|_| "workflow_engine".into());
        let mut command = Command::new(program);
        command.arg("--db").arg(self.db()).stdin(Stdio::null());
        command
    }

    fn task(&self, goal: &str) -> anyhow::Result<Submitted> {
        let task = self.tasks.iter().find(|(it, _)| *it == goal);
        Ok(task.context("there is no such task")?.1)
    }

    pub fn payments(&self) -> usize {
        let bank = fs::read_to_string(office(&self.db()).join("bank.txt")).unwrap_or_default();
        bank.lines().count()
    }

    pub fn until_engines(&mut self, number: usize, status: Status) -> anyhow::Result<()> {
        let status = status.as_str();
        let query = Query::new().machine(&*DEFINITION.name).status(status);
        self.until(status, |stage| Ok(block_on(stage.store.list(&query))?.items.len() == number))
    }

    pub fn until_ended(&mut self, goal: &str) -> anyhow::Result<()> {
        let record = self.task(goal)?.record;
        self.until(goal, |stage| {
            let observer = Observer::new(&stage.store);
            Ok(block_on(observer.snapshot::<Human>(record))?.is_terminal)
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
