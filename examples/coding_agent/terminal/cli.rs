use std::{
    ffi::OsString,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering::Relaxed,
};

use clap::{Args, Parser, Subcommand, builder::NonEmptyStringValueParser};
use coding_agent::{
    commands::runner::{self, Commands},
    plan::trouble::Trouble,
    planner::{openai::OpenAi, script::Script},
    workspace::{
        edits::Workspace,
        refusal::{
            At,
            Code::{E_INVALID_ARGS, E_IO},
            Refusal,
        },
        set::{Digest, Ending},
    },
};
use machine::{actor::Human, worker::Failure};
use serde_json::{Map, Value};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use super::{
    demo,
    face::{Face, IS_AT_PROMPT, fail},
    repository,
    session::Session,
};

const EXITS: &str = "\
Exit codes: 0 done, 1 error, 2 usage, 3 needs an answer or a confirmation, 4 blocked, 130 and 143 ended
by a signal. With 3, the last line of the output has the commands that answer.";

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Error = 1,
    Usage = 2,
    Asks = 3,
    Blocked = 4,
}

/// A coding agent: it plans, asks you, edits the files of one folder in sets that can be undone,
/// runs commands there, and repairs what they show.
///
/// Commands are not sandboxed: for programs that you do not trust, run all of it in a container.
#[derive(Debug, Parser)]
#[command(version, after_help = EXITS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The folder. The agent itself reads and writes nothing outside of it.
    #[arg(long, global = true, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// What undo and crashes need, and the jobs, in `jobs.db`; by default a folder beside that one,
    /// with `.edits` in its name.
    #[arg(long, global = true, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Do a task; or go on with the one that is open in the folder, also after a crash.
    #[command(after_help = EXITS)]
    Do(Box<Do>),
    /// Undo the newest edits that are not undone.
    Undo,
    /// Repair a small program, which is made in a temporary folder, with a planner that follows a
    /// script.
    Demo {
        #[arg(long)]
        json: bool,
    },
}

// A doc comment would become that of the command.
#[derive(Debug, Args)]
pub struct Do {
    /// The task. Without it: the open one, or how the last one ended.
    pub task: Option<String>,
    /// A script, which is the planner. Without it, the planner is the model that
    /// `CODING_AGENT_URL` and `CODING_AGENT_MODEL` name.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    #[command(flatten)]
    pub said: Option<Said>,
    /// Confirm a plan that edits just the files that it expects to, keeps most lines of each, and
    /// runs only checks: known ones, such as `cargo test`, and programs of the folder that it does
    /// not edit; unless the task names what no undo takes back.
    #[arg(long)]
    pub yes: bool,
    /// Begin although git shows changes, or although there is no repository.
    #[arg(long)]
    pub dirty: bool,
    /// Print a line of JSON for each event, and ask nothing. Without a terminal that is so, too.
    #[arg(long)]
    pub json: bool,
    /// The name of the person who answers.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new, default_value = "person")]
    pub by: Human,
    /// Serve the inspector, in which the job is seen as it runs.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true,
          default_missing_value = "127.0.0.1:7878")]
    pub serve: Option<SocketAddr>,
}

impl Do {
    /// It ends a task, which needs neither a planner nor a folder that is in order.
    pub fn ends(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.cancel.is_some() || said.decline.is_some())
    }
}

// The answer to what the open task asks.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Said {
    /// Answer a question; once for each of them.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub answer: Vec<String>,
    /// Confirm this plan and its repairs.
    #[arg(long, value_name = "PLAN")]
    pub confirm: Option<String>,
    /// Confirm only the first call of the plan, with this digest.
    #[arg(long, value_name = "DIGEST")]
    pub once: Option<Digest>,
    /// Decline the plan.
    #[arg(long, value_name = "WHY")]
    pub decline: Option<String>,
    /// End the task after the call that is under way.
    #[arg(long, value_name = "WHY")]
    pub cancel: Option<String>,
}

pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let folder = cli.folder.clone();
    let wants_json = match &cli.command {
        Command::Do(asked) => asked.json,
        Command::Demo { json } => *json,
        Command::Undo => false,
    };
    let exit = run(cli).unwrap_or_else(|error| {
        fail(&Trouble::told(&error, folder.display(), E_IO), wants_json);
        Exit::Error
    });
    ExitCode::from(exit as u8)
}

fn run(Cli { command, folder, store }: Cli) -> Result<Exit, Failure> {
    match command {
        Command::Demo { json } => run(Cli::parse_from::<_, OsString>(demo::words(json)?)),
        Command::Undo => Ok(undo(&folder, &beside(&folder, store)?)?),
        Command::Do(asked) => {
            let store = beside(&folder, store)?;
            Runtime::new()?.block_on(async {
                end_on(SignalKind::interrupt())?;
                end_on(SignalKind::terminate())?;
                drive(*asked, &folder, &store).await
            })
        }
    }
}

/// Ends the program, and its command first, on a signal. An interrupt at a prompt ends that one.
fn end_on(kind: SignalKind) -> io::Result<()> {
    let mut signals = signal(kind)?;
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            if kind != SignalKind::interrupt() || !IS_AT_PROMPT.load(Relaxed) {
                runner::exit(128 + kind.as_raw_value());
            }
        }
    });
    Ok(())
}

async fn drive(asked: Do, folder: &Path, store: &Path) -> Result<Exit, Failure> {
    let script = match &asked.script {
        Some(file) => script(file)?,
        None => match OpenAi::from_environment(store) {
            Ok(model) => return Session::open(asked, folder, store, model).await?.drive().await,
            Err(_) if asked.ends() => Script::default(),
            Err(refusal) => {
                let why = "there is no planner: pass `--script FILE`, or name a model";
                let trouble =
                    Trouble::new(refusal.code, folder.display(), format!("{why}: {refusal}"));
                fail(&trouble, asked.json);
                return Ok(Exit::Usage);
            }
        },
    };
    Session::open(asked, folder, store, script).await?.drive().await
}

fn script(file: &Path) -> Result<Script, Refusal> {
    let text = fs::read(file).at(file.display())?;
    // As a list, it could be without all of its parts.
    let parsed = serde_json::from_slice::<Map<String, Value>>(&text)
        .and_then(|_| serde_json::from_slice(&text));
    parsed.map_err(|error| Refusal::new(file.display(), (E_INVALID_ARGS, error.to_string())))
}

fn undo(folder: &Path, store: &Path) -> Result<Exit, Refusal> {
    let workspace = Workspace::open(folder, store, Box::new(|_, _| Ok(())))?;
    Commands::new(&workspace).recover()?;
    repository::check(&workspace.folder.path, true)?;
    let report = workspace.undo()?;
    let is_all = report.ending == Ending::Applied && report.conflicts.is_empty();
    let text = match report.ending {
        Ending::Applied => "undone",
        Ending::NotApplied => "not undone",
        Ending::InDoubt => "in doubt: look at these paths",
    };
    let face = Face::new(false);
    let undone = workspace.store.record(report.number)?.undoes.unwrap_or(report.number);
    face.note(&format!("edits {undone}: {text}"));
    for conflict in report.conflicts.iter().filter(|it| it.kept.is_none()) {
        face.note(&format!("{}: changed by somebody else, and left as it is", conflict.path));
    }
    tell_displaced(&workspace, store, &face)?;
    Ok(if is_all { Exit::Done } else { Exit::Error })
}

/// Lists the files in which what somebody wrote at the same time is kept.
pub fn tell_displaced(workspace: &Workspace, store: &Path, face: &Face) -> Result<(), Refusal> {
    for conflict in workspace.store.displaced()? {
        if let Some(name) = conflict.kept {
            let kept = store.join("kept").join(name);
            let (path, kept) = (conflict.path, kept.display());
            face.note(&format!("{path}: what was written here is in {kept}"));
        }
    }
    Ok(())
}

/// The store of a folder: by default the one beside it.
fn beside(folder: &Path, store: Option<PathBuf>) -> Result<PathBuf, Refusal> {
    let beside = || folder.canonicalize().map(|it| it.with_added_extension("edits"));
    store.map_or_else(beside, Ok).at(folder.display())
}
