//! The whole story in a temporary folder: each step is a separate process, the server is real, and
//! so are the signals.

use std::{
    env,
    io::{BufRead, BufReader, PipeReader},
    path::PathBuf,
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
    note(
        "An agent wants to send mails. Nobody can take a mail back, so a person approves each one, and a \
         worker sends it at most once, even if processes crash. The agent, the people and the workers are \
         separate processes that share a SQLite file. The processes, the signals and the mail server are \
         real; `send_email` is this program.",
    );
    let mut story = Story::begin()?;

    scene(
        "1. A person approves a mail",
        "The agent asks, and its process ends: the question waits in the file. Ann approves exactly this \
         mail. Tom is too late, and learns who was first. A worker sends the mail.",
    );
    story.run("agent", OK, "ask --to bob@example.com")?;
    story.run("ann", OK, "approve ID --as ann --yes")?;
    story.run("tom", REFUSED, "approve ID --as tom --yes")?;
    story.run("worker", OK, "work --once")?;
    story.has_received(1)?;

    scene(
        "2. The server refuses a mail",
        "The refusal proves that the mail was not sent, so the worker records FAILED, and another attempt \
         cannot send it twice. Whether there is one, Ann decides.",
    );
    story.run("agent", OK, "ask --to dan@example.com")?;
    story.run("ann", OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Refuse);
    story.run("worker", OK, "work --once")?;
    story.run("ann", OK, "retry ID --as ann --yes")?;
    story.run("worker", OK, "work --once")?;
    story.has_received(2)?;

    scene(
        "3. A worker is killed at the worst moment",
        "The server takes the mail and kills worker1 (SIGKILL), which has not recorded the answer. Nobody \
         knows whether the mail was sent, so worker2 does not send it again: it is in doubt until a person \
         says what happened. Ann asks Carol, who has it.",
    );
    story.run("agent", OK, "ask --to carol@example.com")?;
    story.run("ann", OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Kill);
    story.run("worker1", KILLED, "work --once")?;
    story.run("worker2", OK, "work --once")?;
    story.run("ann", REFUSED, "retry ID --as ann --yes")?;
    story.run("ann", OK, "confirm ID applied --as ann --yes")?;
    story.has_received(3)?;

    scene(
        "4. A worker is frozen at the worst moment",
        "The server takes the mail and freezes worker1 (SIGSTOP), which has not recorded the answer. When \
         the timeout of the mail is over, worker2 puts it in doubt, and does not send it again.",
    );
    story.run("agent", OK, "ask --to fay@example.com --timeout 1s")?;
    story.run("ann", OK, "approve ID --as ann --yes")?;
    story.plan(Plan::Freeze);
    let mut frozen = story.start("worker1", "work --once")?;
    while story.is_planned(Plan::Freeze) && frozen.child.try_wait()?.is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    let mut other = story.start("worker2", "work")?;
    story.follow(&mut other, "[IN_DOUBT")?;
    note(
        "Ann finds no mail, and says so. That is refused, because worker1 is alive and could still send it.",
    );
    story.run("ann", REFUSED, "confirm ID not-applied --as ann --yes")?;
    note(
        "When worker1 thaws (SIGCONT), it records the answer of the server, which ends the doubt.",
    );
    signal(frozen.child.id(), "CONT");
    frozen.ends(OK)?;
    story.follow(&mut other, "[SUCCESS")?;
    signal(other.child.id(), "TERM");
    other.ends(OK)?;
    story.has_received(4)?;

    scene(
        "Next, you are Ann",
        "The first command asks for a mail. The second lists it with the command that approves it; run \
         that one, too. The third sends the mail to a server on loopback, which stores it in agent.mails.",
    );
    for command in ["ask --to bob@example.com", "list", "work --once"] {
        say(format_args!("  cargo run --package examples -- {command}"));
    }
    Ok(())
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
    speaker: &'static str,
    child: Child,
    output: BufReader<PipeReader>,
}

impl Process {
    /// Waits for its end, and checks it.
    fn ends(mut self, expected: Option<i32>) -> anyhow::Result<()> {
        let status = self.child.wait()?;
        ensure!(status.code() == expected, "{} ended with {status}", self.speaker);
        Ok(())
    }
}

impl Drop for Process {
    /// A frozen one does not outlive a story that fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

struct Story {
    folder: TempDir,
    program: PathBuf,
    server: SmtpServer,
    stage: Arc<Mutex<Stage>>,
    /// The end of the id that was printed last.
    id: String,
    /// True after the first command: the details of its question are shown, and no others.
    has_asked: bool,
}

impl Story {
    fn begin() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("send_email-").context("cannot create a folder")?;
        let stage = Arc::new(Mutex::new(Stage { plan: Plan::Take, worker: 0 }));
        let shared = Arc::clone(&stage);
        let server =
            SmtpServer::start(&folder.path().join("mails"), move |step| answer(step, &shared))?;
        let program = env::current_exe()?;
        Ok(Self { folder, program, server, stage, id: String::new(), has_asked: false })
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    fn plan(&self, plan: Plan) {
        lock(&self.stage).plan = plan;
    }

    /// Returns whether this plan is still to come.
    fn is_planned(&self, plan: Plan) -> bool {
        lock(&self.stage).plan == plan
    }

    /// Runs a command, and checks how it ends. `ID` stands for the last id.
    fn run(
        &mut self,
        speaker: &'static str,
        end: Option<i32>,
        command: &str,
    ) -> anyhow::Result<()> {
        let process = self.start(speaker, command)?;
        self.finish(end, process)
    }

    /// Shows what a process prints, and checks how it ends.
    fn finish(&mut self, end: Option<i32>, mut process: Process) -> anyhow::Result<()> {
        while self.line(&mut process)?.is_some() {}
        self.has_asked = true;
        process.ends(end)
    }

    /// Shows what a process prints until it says this.
    fn follow(&mut self, process: &mut Process, expected: &str) -> anyhow::Result<()> {
        while let Some(line) = self.line(process)? {
            if line.contains(expected) {
                return Ok(());
            }
        }
        bail!("{} ended without `{expected}`", process.speaker)
    }

    fn line(&mut self, process: &mut Process) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        if process.output.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        // The lines below a line are its details. A worker that is killed may print that it has
        // begun, or not.
        let is_detail = line.starts_with(' ');
        let is_hidden = is_detail && self.has_asked || line.contains("[IN_PROGRESS]");
        if !is_hidden {
            let start = format!("{:>7} | ", process.speaker);
            say_wrapped(&start, &format!("{start}  "), &self.short(&line));
        }
        if let Some(id) = line.split(' ').next().filter(|word| word.parse::<Id>().is_ok()) {
            self.id = String::from(end_of(id));
        }
        Ok(Some(line))
    }

    /// A line with the ends of its ids, which every command accepts, and without paths.
    fn short(&self, line: &str) -> String {
        let called = format!("{} --db {}", self.program.display(), self.db().display());
        let mut short = line.trim_end().replace(&called, "send_email");
        for word in line.split(|one: char| !one.is_ascii_hexdigit() && one != '-') {
            if word.parse::<Id>().is_ok() {
                short = short.replace(word, end_of(word));
            }
        }
        short
    }

    fn start(&self, speaker: &'static str, command: &str) -> anyhow::Result<Process> {
        let command = command.replace("ID", &self.id);
        say(format_args!("{speaker:>7} $ send_email {command}"));
        let (output, writer) = std::io::pipe()?;
        let mut process = Command::new(&self.program);
        process.args(command.split(' ')).arg("--db").arg(self.db());
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
        Ok(Process { speaker, child, output: BufReader::new(output) })
    }

    fn has_received(&self, expected: usize) -> anyhow::Result<()> {
        let received = self.server.received();
        say(format_args!("{:>7} | mails stored: {received}", "server"));
        ensure!(received == expected, "the server should have {expected}");
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
    say(format_args!("{:>7} | takes the mail, and sends SIG{name} to the worker", "server"));
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

/// The digits that the commands need of an id.
fn end_of(id: &str) -> &str {
    &id[id.len() - 8..]
}

fn scene(title: &str, text: &str) {
    say(format_args!("\n== {title} =="));
    say_wrapped("", "", text);
}

fn note(text: &str) {
    say(format_args!(""));
    say_wrapped("", "", text);
}

/// Prints a text in lines of at most 100 columns. They start with `first` and `next`.
fn say_wrapped(first: &str, next: &str, text: &str) {
    let mut line = first.to_owned();
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 && line.chars().count() + 1 + word.chars().count() > 100 {
            say(format_args!("{line}"));
            line = format!("{next}{word}");
        } else {
            let space = if index > 0 { " " } else { "" };
            line = format!("{line}{space}{word}");
        }
    }
    say(format_args!("{line}"));
}
