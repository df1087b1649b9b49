//! The whole story in a temporary folder: each step is a process of its own, the server is real, and
//! so are the signals.

use std::{
    io::{BufRead, BufReader, PipeReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context, ensure};
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
        "An agent asks for a mail, and its process ends. Later Ann approves; the mail goes out.",
    );
    story.run(OK, "ask --to bob@example.com")?;
    let question = story.id.clone();
    story.run(OK, "approve ID --as ann --yes")?;
    story.has_received(1)?;
    chapter("Tom answers too. He is told that Ann was faster; nothing else is approved.");
    story.run(REFUSED, &format!("approve {question} --as tom --yes"))?;

    chapter("A question that nobody answers in time.");
    story.run(OK, "ask --to eve@example.com --expires 1s")?;
    let question = story.id.clone();
    thread::sleep(Duration::from_secs(1));
    story.run(REFUSED, &format!("approve {question} --as ann --yes"))?;

    chapter("The server refuses a mail. Provably nothing was sent, so a person may retry.");
    story.run(OK, "ask --to dave@example.com")?;
    story.plan(Plan::Refuse);
    story.run(REFUSED, "approve ID --as ann --yes")?;
    story.plan(Plan::Take);
    story.run(OK, "retry ID --as ann")?;
    story.has_received(2)?;

    chapter("A process is killed (SIGKILL) after the server took its mail. Nobody sends it again.");
    story.run(OK, "ask --to carol@example.com")?;
    story.plan(Plan::Kill);
    story.run(KILLED, "approve ID --as ann --yes")?;
    story.run(OK, "status")?;
    story.run(REFUSED, "retry ID --as ann")?;
    story.run(OK, "settle ID sent --as ann")?;
    story.has_received(3)?;

    chapter("A process is frozen (SIGSTOP) after the server took its mail, and becomes overdue.");
    story.run(OK, "ask --to frank@example.com --timeout 1s")?;
    story.plan(Plan::Freeze);
    let mut frozen = story.start("approve ID --as ann --yes")?;
    while story.server.received() < 4 && frozen.0.try_wait()?.is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_secs(1));
    story.run(OK, "status")?;
    chapter("Ann has seen no mail. But the process is alive, so that proves nothing.");
    story.run(REFUSED, "settle ID not-sent --as ann")?;
    story.run(REFUSED, "retry ID --as ann")?;
    chapter("It thaws (SIGCONT). Its receipt is late, and counts.");
    story.plan(Plan::Take);
    signal(frozen.0.id(), "CONT");
    story.finish(REFUSED, frozen)?;
    story.run(OK, "status")?;
    story.has_received(4)
}

/// The exit codes of a command; a process that was killed has none.
const OK: Option<i32> = Some(0);
const REFUSED: Option<i32> = Some(1);
const KILLED: Option<i32> = None;

/// What the server does with the next mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Take,
    Refuse,
    /// Kills the sender when it has the mail, before it answers.
    Kill,
    /// The same with SIGSTOP.
    Freeze,
}

/// What the story and its server share.
#[derive(Debug)]
struct Stage {
    plan: Plan,
    /// The process that sends.
    sender: u32,
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
        let stage = Arc::new(Mutex::new(Stage { plan: Plan::Take, sender: 0 }));
        let shared = Arc::clone(&stage);
        let server =
            SmtpServer::start(&folder.path().join("mails"), move |step| answer(step, &shared))?;
        Ok(Self { folder, server, stage, id: String::new() })
    }

    fn plan(&self, plan: Plan) {
        lock(&self.stage).plan = plan;
    }

    /// Runs a command. `ID` stands for the last id.
    fn run(&mut self, end: Option<i32>, command: &str) -> anyhow::Result<()> {
        let process = self.start(command)?;
        self.finish(end, process)
    }

    /// Shows what a process prints, and checks how it ends.
    fn finish(
        &mut self,
        end: Option<i32>,
        (mut child, output): (Child, PipeReader),
    ) -> anyhow::Result<()> {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The lines below a line are its details.
            if !line.starts_with(' ') {
                say(format_args!("    {line}"));
            }
            let id = line.split(' ').next().filter(|word| word.parse::<Id>().is_ok());
            self.id = id.unwrap_or(&self.id).to_owned();
        }
        let status = child.wait()?;
        ensure!(status.code() == end, "it ended with {status}");
        Ok(())
    }

    fn start(&self, command: &str) -> anyhow::Result<(Child, PipeReader)> {
        let command = command.replace("ID", &self.id);
        say(format_args!("  $ send_email {command}"));
        let (output, writer) = std::io::pipe()?;
        let mut process = Command::new(std::env::current_exe()?);
        process.args(command.split(' ')).arg("--db").arg(self.folder.path().join("agent.db"));
        process.args(["--smtp", &self.server.address()]);
        process.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // Locked, so that the server knows the process before it hears from it.
        let mut stage = lock(&self.stage);
        let child = process.spawn().context("cannot start the next process")?;
        stage.sender = child.id();
        Ok((child, output))
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
    let Stage { plan, sender } = *lock(stage);
    match (step, plan) {
        (Step::Recipient(_), Plan::Refuse) => {
            return Response::custom(554, "5.7.1 no mail from agents today".to_owned());
        }
        (Step::Stored(_), Plan::Kill) => signal(sender, "KILL"),
        (Step::Stored(_), Plan::Freeze) => signal(sender, "STOP"),
        _ => {}
    }
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
