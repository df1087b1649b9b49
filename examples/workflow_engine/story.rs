//! The whole story in a temporary folder: each command is a process of its own, and so is the engine,
//! which is killed once in the middle.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use machine::{
    Id,
    store::{Query, blocking::Store},
    view::{Human, Observer},
};
use tempfile::TempDir;

use crate::show::{self, Log, say};

/// How long the story waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);

pub fn tell() -> anyhow::Result<()> {
    let mut story = Story::begin()?;

    chapter("Five tasks. Ann wants to see one of them before anything happens.");
    for goal in
        ["greet bob", "pay the invoice", "invite the team", "publish the report", "clean up"]
    {
        story.submit(goal)?;
    }
    story.send("greet bob", r#"request_intervention {"note":"wait for me"}"#)?;

    chapter("An engine works on all of them, until each needs a person.");
    story.start()?;
    story.until_waiting(5)?;

    chapter(
        "Ann has the invoice paid. When the bank has the money, the engine is killed (SIGKILL).",
    );
    story.send("pay the invoice", "user_resume")?;
    story.until("the bank has the money", |story| Ok(story.payments() == 1))?;
    story.kill()?;
    chapter("A new engine finds the payment at the bank, and does not pay again.");
    story.start()?;
    story.until_ended("pay the invoice")?;

    chapter("Ann gives two tasks new instructions, lets one go on, and ends one.");
    story.send("invite the team", r#"user_modify {"instruction":"only the team"}"#)?;
    story.send("publish the report", r#"user_modify {"instruction":"the final one"}"#)?;
    story.send("greet bob", "user_resume")?;
    story.send("clean up", r#"user_terminate {"why":"leave my secrets alone"}"#)?;
    for goal in ["invite the team", "greet bob", "clean up"] {
        story.until_ended(goal)?;
    }

    chapter("The site was down, three times in a row. It is up again.");
    story.until_waiting(1)?;
    story.send("publish the report", "user_resume")?;
    story.until_ended("publish the report")?;
    story
        .until("the engines are idle", |story| story.count("workflow", "idle").map(|it| it == 5))?;
    story.kill()?;

    chapter("What became of the tasks.");
    for task in &story.tasks {
        let observer = Observer::new(story.store.get());
        show::ended(&story.store.wait(observer.snapshot::<Human>(task.record))?);
    }
    say(format_args!("  (payments that the bank has: {})", story.payments()));
    ensure!(story.payments() == 1, "it should have 1");
    Ok(())
}

struct Story {
    folder: TempDir,
    store: Store,
    /// What people are told, whichever engine does it.
    log: Log,
    tasks: Vec<Submitted>,
    engine: Option<Child>,
}

struct Submitted {
    goal: &'static str,
    record: Id,
    /// The machine that works on it.
    engine: Id,
}

impl Drop for Story {
    /// The engine does not outlive a story that fails.
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Story {
    fn begin() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("workflow_engine-").context("cannot create a folder")?;
        fs::write(folder.path().join("invoice.txt"), "500\n")?;
        fs::write(folder.path().join("site.down"), "retry\nretry\nretry\n")?;
        let store = Store::sqlite(folder.path().join("engine.db"))?;
        let log = store.wait(Log::begin(store.get()))?;
        Ok(Self { folder, store, log, tasks: Vec::new(), engine: None })
    }

    fn submit(&mut self, goal: &'static str) -> anyhow::Result<()> {
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

    /// Ann sends an event to the engine that works on this task.
    fn send(&self, goal: &str, event: &str) -> anyhow::Result<()> {
        let engine = show::short(self.task(goal)?.engine);
        let (trigger, payload) = event.split_once(' ').unwrap_or((event, ""));
        let mut send = self.command();
        send.args(["send", &engine, trigger, "--as", "ann"]);
        if payload.is_empty() {
            say(format_args!("  $ workflow_engine send {engine} {trigger} --as ann"));
        } else {
            send.args(["--payload", payload]);
            say(format_args!(
                "  $ workflow_engine send {engine} {trigger} --as ann --payload '{payload}'"
            ));
        }
        let status = send.stdout(Stdio::null()).status()?;
        ensure!(status.success(), "it ended with {status}");
        Ok(())
    }

    /// Starts an engine. The story prints what it would print.
    fn start(&mut self) -> anyhow::Result<()> {
        say(format_args!("  $ workflow_engine run"));
        self.engine = Some(self.command().arg("run").stdout(Stdio::null()).spawn()?);
        Ok(())
    }

    fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut engine) = self.engine.take() {
            engine.kill()?;
            engine.wait()?;
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| "workflow_engine".into());
        let mut command = Command::new(program);
        command.arg("--db").arg(self.folder.path().join("engine.db")).stdin(Stdio::null());
        command
    }

    fn task(&self, goal: &str) -> anyhow::Result<&Submitted> {
        self.tasks.iter().find(|task| task.goal == goal).context("there is no such task")
    }

    fn payments(&self) -> usize {
        let bank = fs::read_to_string(self.folder.path().join("bank.txt")).unwrap_or_default();
        bank.lines().count()
    }

    fn count(&self, machine: &str, status: &str) -> anyhow::Result<usize> {
        Ok(self.store.list(&Query::new().machine(machine).status(status))?.items.len())
    }

    fn until_waiting(&mut self, tasks: usize) -> anyhow::Result<()> {
        self.until("a person is needed", |story| {
            story.count("workflow", "manual_intervention").map(|it| it == tasks)
        })
    }

    fn until_ended(&mut self, goal: &str) -> anyhow::Result<()> {
        let record = self.task(goal)?.record;
        self.until(goal, |story| {
            let observer = Observer::new(story.store.get());
            Ok(story.store.wait(observer.snapshot::<Human>(record))?.is_terminal)
        })
    }

    /// Prints what people are told, until this has happened.
    fn until(
        &mut self,
        what: &str,
        condition: impl Fn(&Self) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let has_happened = condition(self)?;
            self.store.wait(self.log.finish())?;
            if has_happened {
                return Ok(());
            }
            ensure!(start.elapsed() < PATIENCE, "this has not happened: {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn chapter(title: &str) {
    say(format_args!("\n{title}"));
}
