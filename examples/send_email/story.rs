//! The whole demo in a temporary folder, each step in its own process.

use std::{
    io::{BufRead, BufReader, PipeReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, ensure};
use machine::store::{Query, blocking::Store};
use mailin::{Response, response};
use tempfile::TempDir;

use crate::{
    server::{Policy, SmtpServer},
    show::say,
};

pub fn tell() -> anyhow::Result<()> {
    let story = Story::begin()?;

    chapter("An agent wants to send a mail. It asks, and its process ends.");
    story.ask("bob@example.com", "Meeting")?;
    chapter("Later, in another process, a person approves. The mail goes out.");
    story.run(&["approve", "--yes"], &[&story.find("waiting")?])?;
    story.count_mails(1)?;

    chapter("Another mail. This time the process is killed (SIGKILL) once the server has it.");
    story.ask("carol@example.com", "Contract")?;
    *story.plan() = Plan::KillSender;
    story.run_to_its_death(&["approve", "--yes"], &[&story.find("waiting")?])?;
    chapter("The next process finds the mail in doubt and asks. It does not send it again.");
    story.run(&["status"], &[])?;
    story.count_mails(2)?;
    chapter("The person checks, sees that it arrived, and confirms. It is not sent again.");
    story.run(&["settle"], &[&story.find("waiting")?, "sent"])?;
    story.count_mails(2)?;

    chapter("A third mail. This time the server refuses.");
    story.ask("dave@example.com", "Invoice")?;
    *story.plan() = Plan::Refuse;
    story.run_and_fail(&["approve", "--yes"], &[&story.find("waiting")?])?;
    story.count_mails(2)?;
    chapter("Provably nothing was sent, so the key is free: a retry succeeds.");
    *story.plan() = Plan::Take;
    story.run(&["retry"], &[&story.find("failed")?])?;
    story.count_mails(3)?;

    chapter("The whole history:");
    story.run(&["status"], &[])?;
    Ok(())
}

/// What the server does with the next mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Take,
    Refuse,
    KillSender,
}

/// The state shared by the demo and its server.
#[derive(Debug)]
struct Stage {
    plan: Mutex<Plan>,
    sender: Mutex<Option<Child>>,
}

impl Policy for Arc<Stage> {
    fn recipient(&self, _to: &str) -> Response {
        match *self.plan.lock().unwrap_or_else(PoisonError::into_inner) {
            Plan::Refuse => Response::custom(554, "5.7.1 no mail from agents today".to_owned()),
            Plan::Take | Plan::KillSender => response::OK,
        }
    }

    fn received(&self) -> Response {
        let plan = *self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Plan::KillSender, Some(sender)) = (plan, sender.as_mut()) {
            // The server has the mail; the sender is killed before it gets the response.
            let _ = sender.kill();
            let _ = sender.wait();
        }
        response::OK
    }
}

struct Story {
    folder: TempDir,
    server: SmtpServer,
    stage: Arc<Stage>,
}

impl Story {
    fn begin() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("send_email-").context("cannot create a folder")?;
        let stage = Arc::new(Stage { plan: Mutex::new(Plan::Take), sender: Mutex::new(None) });
        let server = SmtpServer::start(&folder.path().join("mails"), Arc::clone(&stage))?;
        Ok(Self { folder, server, stage })
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.stage.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, to: &str, subject: &str) -> anyhow::Result<()> {
        self.run(&["ask", "--to", to, "--subject", subject], &[])
    }

    /// Runs a command that must succeed, and shows what it prints.
    fn run(&self, command: &[&str], rest: &[&str]) -> anyhow::Result<()> {
        let (mut child, output) = self.start(command, rest)?;
        relay(output);
        let status = child.wait()?;
        ensure!(status.success(), "`{}` ended with {status}", command.join(" "));
        Ok(())
    }

    /// Runs a command that must report an error.
    fn run_and_fail(&self, command: &[&str], rest: &[&str]) -> anyhow::Result<()> {
        let (mut child, output) = self.start(command, rest)?;
        relay(output);
        let status = child.wait()?;
        ensure!(status.code() == Some(1), "`{}` ended with {status}", command.join(" "));
        Ok(())
    }

    /// Runs a command that the server kills.
    fn run_to_its_death(&self, command: &[&str], rest: &[&str]) -> anyhow::Result<()> {
        let sender = || self.stage.sender.lock().unwrap_or_else(PoisonError::into_inner);
        // Locked until the child is stored, so that the server finds it.
        let mut place = sender();
        let (child, output) = self.start(command, rest)?;
        *place = Some(child);
        drop(place);
        relay(output);
        let status = sender().take().context("the sender is gone")?.wait()?;
        ensure!(status.code().is_none(), "the sender should have been killed, not {status}");
        say(format_args!("    ({status})"));
        Ok(())
    }

    /// Starts a command with stdout and stderr connected to the pipe.
    fn start(&self, command: &[&str], rest: &[&str]) -> anyhow::Result<(Child, PipeReader)> {
        let mut process = Command::new(std::env::current_exe()?);
        process.args(command).arg("--db").arg(self.folder.path().join("agent.db")).args(rest);
        let mut shown = format!("{} --db agent.db {}", command.join(" "), rest.join(" "));
        if matches!(command, ["approve" | "retry", ..]) {
            let address = self.server.address();
            process.args(["--smtp", &address]);
            shown = format!("{shown} --smtp {address}");
        }
        say(format_args!("  $ send_email {shown}"));
        let (output, writer) = std::io::pipe()?;
        process.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // Dropping the command closes our ends of the pipe, so that the pipe ends with the child.
        let child = process.spawn().context("cannot start the next process")?;
        Ok((child, output))
    }

    fn count_mails(&self, expected: usize) -> anyhow::Result<()> {
        let received = self.server.received();
        say(format_args!("  (the server has received {received} in all)"));
        ensure!(received == expected, "the server should have {expected}");
        Ok(())
    }

    /// The one execution in this state, read from the database like any program would.
    fn find(&self, status: &str) -> anyhow::Result<String> {
        let store = Store::sqlite(self.folder.path().join("agent.db"))?;
        let mut page = store.list(&Query::new().status(status).limit(1))?;
        let found = page.items.pop().with_context(|| format!("nothing is {status}"))?;
        Ok(found?.id.to_string())
    }
}

fn relay(output: PipeReader) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        say(format_args!("    {line}"));
    }
}

fn chapter(title: &str) {
    say(format_args!("\n{title}"));
}
