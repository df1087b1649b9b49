//! The whole story in a temporary folder: each step is a separate process, the server is real, and
//! so are the signals.

use std::{
    io::{BufRead, BufReader, PipeReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use machine::Id;
use mailin::{Response, response};
use tempfile::TempDir;

use crate::{
    server::{SmtpServer, Step},
    show::say,
};

pub fn tell() -> anyhow::Result<()> {
    let mut story = Story::begin()?;

    chapter(
        "An agent asks for a mail, and its process ends. Later Ann approves; a worker sends it.",
    );
    story.run(OK, "ask --to bob@example.com")?;
    let question = story.id.clone();
    story.run(OK, "approve ID --as ann --yes")?;
    story.run(OK, "work --once")?;
    story.has_received(1)?;
    chapter("Tom answers, too, and gets an error with Ann's name. Nothing else is approved.");
    story.run(REFUSED, &format!("approve {question} --as tom --yes"))?;

    chapter("A question that is not answered in time.");
    story.run(OK, "ask --to eve@example.com --expires 1s")?;
    thread::sleep(Duration::from_secs(1));
    story.run(REFUSED, "approve ID --as ann --yes")?;
    story.run(OK, "work --once")?;

    chapter("The server refuses a mail. Provably nothing was sent, so a person may retry.");
    story.run(OK, "ask --to dave@example.com")?;
    story.run(OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Refuse);
    story.run(OK, "work --once")?;
    story.run(OK, "retry ID --as ann --yes")?;
    story.run(OK, "work --once")?;
    story.has_received(2)?;

    chapter(
        "A worker is killed (SIGKILL) after the server took its mail. No other worker sends it again.",
    );
    story.run(OK, "ask --to carol@example.com")?;
    story.run(OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Kill);
    story.run(KILLED, "work --once")?;
    story.run(OK, "work --once")?;
    story.run(REFUSED, "retry ID --as ann --yes")?;
    story.run(OK, "confirm ID applied --as ann --yes")?;
    story.has_received(3)?;

    chapter("A worker is frozen (SIGSTOP) after the server took its mail. Another one takes over.");
    story.run(OK, "ask --to frank@example.com --timeout 1s")?;
    story.run(OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Freeze);
    let mut frozen = story.start("work --once")?;
    while story.is_planned(Plan::Freeze) && frozen.child.try_wait()?.is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    let mut other = story.start("work")?;
    story.follow(&mut other, "[IN_DOUBT")?;
    chapter("Ann has seen no mail. But the frozen worker is alive, so that proves nothing.");
    story.run(REFUSED, "confirm ID not-applied --as ann --yes")?;
    story.run(REFUSED, "retry ID --as ann --yes")?;
    chapter("It thaws (SIGCONT). Its receipt is late, and counts.");
    signal(frozen.child.id(), "CONT");
    story.finish(OK, frozen)?;
    story.follow(&mut other, "[SUCCESS")?;
    signal(other.child.id(), "TERM");
    story.finish(OK, other)?;
    story.has_received(4)
}

/// The exit codes of a command; a process that was killed has none.
const OK: Option<i32> = Some(0);
const REFUSED: Option<i32> = Some(1);
const KILLED: Option<i32> = None;

/// The server's treatment of the next mail. Afterwards it takes mails again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Take,
    Refuse,
    /// Kills the worker when it has the mail, before it answers.
    Kill,
    /// Freezes the worker with SIGSTOP when it has the mail, before it answers.
    Freeze,
}

/// The state that the story and its server share.
#[derive(Debug)]
struct Stage {
    plan: Plan,
    /// The process that was started to send.
    worker: u32,
}

/// A process of the story.
struct Process {
    child: Child,
    output: BufReader<PipeReader>,
}

impl Drop for Process {
    /// A frozen one does not outlive a story that fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

struct Story {
    folder: TempDir,
    server: SmtpServer,
    stage: Arc<Mutex<Stage>>,
    /// The id that was printed last.
    id: String,
}

impl Story {
    fn begin() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("send_email-").context("cannot create a folder")?;
        let stage = Arc::new(Mutex::new(Stage { plan: Plan::Take, worker: 0 }));
        let shared = Arc::clone(&stage);
        let server =
            SmtpServer::start(&folder.path().join("mails"), move |step| answer(step, &shared))?;
        Ok(Self { folder, server, stage, id: String::new() })
    }

    fn plan(&self, plan: Plan) {
        lock(&self.stage).plan = plan;
    }

    /// Returns whether this plan is still to come.
    fn is_planned(&self, plan: Plan) -> bool {
        lock(&self.stage).plan == plan
    }

    /// Runs a command. `ID` stands for the last id.
    fn run(&mut self, end: Option<i32>, command: &str) -> anyhow::Result<()> {
        let process = self.start(command)?;
        self.finish(end, process)
    }

    /// Shows what a process prints, and checks how it ends.
    fn finish(&mut self, end: Option<i32>, mut process: Process) -> anyhow::Result<()> {
        while self.line(&mut process)?.is_some() {}
        let status = process.child.wait()?;
        ensure!(status.code() == end, "it ended with {status}");
        Ok(())
    }

    /// Shows what a process prints until it says this.
    fn follow(&mut self, process: &mut Process, expected: &str) -> anyhow::Result<()> {
        while let Some(line) = self.line(process)? {
            if line.contains(expected) {
                return Ok(());
            }
        }
        bail!("it ended without `{expected}`")
    }

    fn line(&mut self, process: &mut Process) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        if process.output.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        // The lines below a line are its details.
        if !line.starts_with(' ') || line.contains("in doubt") {
            say(format_args!("    {}", line.trim_end()));
        }
        let id = line.split(' ').next().filter(|word| word.parse::<Id>().is_ok());
        self.id = id.unwrap_or(&self.id).to_owned();
        Ok(Some(line))
    }

    fn start(&self, command: &str) -> anyhow::Result<Process> {
        let command = command.replace("ID", &self.id);
        say(format_args!("  $ send_email {command}"));
        let (output, writer) = std::io::pipe()?;
        let mut process = Command::new(std::env::current_exe()?);
        process.args(command.split(' ')).arg("--db").arg(self.folder.path().join("agent.db"));
        process.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let works = command.starts_with("work");
        if works {
            process.args(["--smtp", &self.server.address()]);
        }
        // Locked, so that the server knows the process before it hears from it.
        let mut stage = lock(&self.stage);
        let child = process.spawn().context("cannot start the next process")?;
        if works {
            stage.worker = child.id();
        }
        Ok(Process { child, output: BufReader::new(output) })
    }

    fn has_received(&self, expected: usize) -> anyhow::Result<()> {
        let received = self.server.received();
        say(format_args!("  (mails that the server has: {received})"));
        ensure!(received == expected, "it should have {expected}");
        Ok(())
    }
}

/// The policy of the server.
fn answer(step: Step<'_>, stage: &Mutex<Stage>) -> Response {
    let mut stage = lock(stage);
    let name = match (step, stage.plan) {
        (Step::Recipient(_), Plan::Refuse) => {
            stage.plan = Plan::Take;
            return Response::custom(554, "5.7.1 no mail from agents today".to_owned());
        }
        (Step::Stored(_), Plan::Kill) => "KILL",
        (Step::Stored(_), Plan::Freeze) => "STOP",
        _ => return response::OK,
    };
    signal(stage.worker, name);
    stage.plan = Plan::Take;
    response::OK
}

/// `sh` has a `kill` on every Unix.
fn signal(process: u32, name: &str) {
    let _ = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
}

fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

fn chapter(title: &str) {
    say(format_args!("\n{title}"));
}
