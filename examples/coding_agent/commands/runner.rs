use std::{
    io::Write,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{self, Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use super::{
    group::Group,
    output::Pipes,
    run::{Ending, Report, Run, Text, environment},
};
use crate::workspace::{
    edits::Workspace,
    folder::{Snapshot, changed},
    refusal::{At, Refusal},
    set::Digest,
};

/// The folder of the records in the store.
const COMMANDS: &str = "commands";

/// The time in which processes that hold the output may end by themselves, after the command has.
const GRACE: Duration = Duration::from_millis(500);

/// What waits for the record: if the agent dies before it writes a line, nothing is started.
const SHELL: &str = "/bin/sh";
const GATE: &str = "read -r line && exec \"$@\" < /dev/null";

/// The command of this process. While this is locked, none begins, and the end of none is noticed.
static RUNNING: Mutex<Option<Group>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Group>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the command of this process, and ends the process. The next agent finds that the command
/// was interrupted, and ends what still lives of it.
pub fn exit(code: i32) -> ! {
    let running = running();
    let _ = running.as_ref().map(Group::end);
    process::exit(code)
}

/// What has just happened to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It is on disk, and waits.
    Recorded,
    /// It was told to start.
    Started,
}

/// Called at each moment. An error is treated like one of the system.
pub type Watch = Box<dyn Fn(Moment) -> Result<(), Refusal> + Send + Sync>;

/// The commands of an agent in its folder, one at a time. Running one, and looking for one, first
/// ends a command whose agent died.
pub struct Commands<'a> {
    pub workspace: &'a Workspace,
    pub watch: Watch,
}

/// A command, on disk before its program is started.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    number: usize,
    run: Run,
    group: Group,
    /// The digest of the snapshot before it, which is in the store.
    before: Digest,
    /// It may have been started.
    is_started: bool,
    report: Option<Report>,
}

impl<'a> Commands<'a> {
    pub fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, watch: Box::new(|_| Ok(())) }
    }

    /// Runs a command, and ends what it leaves in the background. A dangerous one needs its digest
    /// from a person.
    pub fn run(&self, run: &Run, confirmed: Option<Digest>) -> Result<Report, Refusal> {
        let (folder, store) = (&self.workspace.folder, &self.workspace.store);
        let program = run.program(&folder.here())?;
        if let Some(why) = run.danger(&program)
            && confirmed != Some(Digest::of_call(run)?)
        {
            return Err(Refusal::new(run.argv.join(" "), why));
        }
        self.recover()?;
        let before = store.put(&serde_json::to_vec(&folder.snapshot()?).at("the files")?)?;
        let mut shell = Command::new(SHELL);
        shell.args(["-c", GATE, SHELL]).args(&run.argv).env_clear().envs(environment());
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = shell.current_dir(folder.here()).process_group(0).spawn();
        let mut child = child.at(program.display())?;
        let report = self.attend(&mut child, run, before);
        if report.is_err() {
            // One that is not on disk ends by itself: nobody writes to its gate.
            let _ = running().take().as_ref().map(Group::end);
            let _ = child.try_wait();
        }
        report
    }

    /// Lets it start, reads what it prints, and ends its group.
    fn attend(&self, child: &mut Child, run: &Run, before: Digest) -> Result<Report, Refusal> {
        let (gate, mut pipes, at) = (child.stdin.take(), Pipes::of(child), &run.argv[0]);
        let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).at(at)?;
        let number = self.newest()?.map_or(1, |newest| newest + 1);
        let (run, group) = (run.clone(), Group::of(child)?);
        let mut record = Record { number, run, group, before, is_started: false, report: None };
        self.save(&record)?;
        *running() = Some(record.group.clone());
        (self.watch)(Moment::Recorded)?;
        record.is_started = true;
        self.save(&record)?;
        gate.into_iter().try_for_each(|mut gate| gate.write_all(b"\n")).at(at)?;
        (self.watch)(Moment::Started)?;
        let limit = Duration::from_millis(record.run.timeout);
        let has_ended = pipes.read(Some(&process), limit).at(at)?;
        if has_ended {
            pipes.read(None, GRACE).at(at)?;
        }
        record.group.end()?;
        let is_held = !pipes.read(None, GRACE).at(at)?;
        let status = child.wait().at(at)?;
        *running() = None;
        let ending = match status.code() {
            _ if !has_ended => Ending::TimedOut,
            Some(code) => Ending::Exited(code),
            None => Ending::Killed(status.signal().unwrap_or_default()),
        };
        let [stdout, stderr] = pipes.into_texts();
        self.end(record, Report { number, ending, stdout, stderr, is_held, seen: Vec::new() })
    }

    /// Ends the newest command, if its agent has not.
    pub fn recover(&self) -> Result<(), Refusal> {
        let Some(number) = self.newest()? else { return Ok(()) };
        let record: Record = self.workspace.store.load_from(COMMANDS, number)?;
        if record.report.is_some() {
            return Ok(());
        }
        record.group.end()?;
        let ending = if record.is_started { Ending::Interrupted } else { Ending::NotStarted };
        let [stdout, stderr] = [Text::default(), Text::default()];
        let report = Report { number, ending, stdout, stderr, is_held: false, seen: Vec::new() };
        self.end(record, report).map(|_| ())
    }

    /// Compares the files, and writes how a command ended.
    fn end(&self, mut record: Record, mut report: Report) -> Result<Report, Refusal> {
        let before = self.workspace.store.get(record.before)?;
        let before: Snapshot = serde_json::from_slice(&before).at("the files")?;
        report.seen = changed([&before, &self.workspace.folder.snapshot()?]);
        record.report = Some(report.clone());
        self.save(&record)?;
        Ok(report)
    }

    /// How a command ended whose record comes after that number.
    pub fn find(&self, after: usize, run: &Run) -> Result<Option<Report>, Refusal> {
        self.recover()?;
        let numbers = self.workspace.store.numbers_in(COMMANDS)?;
        for number in numbers.into_iter().filter(|number| *number > after) {
            let record: Record = self.workspace.store.load_from(COMMANDS, number)?;
            if record.run == *run {
                return Ok(record.report);
            }
        }
        Ok(None)
    }

    pub fn newest(&self) -> Result<Option<usize>, Refusal> {
        Ok(self.workspace.store.numbers_in(COMMANDS)?.first().copied())
    }

    fn save(&self, record: &Record) -> Result<(), Refusal> {
        self.workspace.store.save_in(COMMANDS, record.number, record)
    }
}
