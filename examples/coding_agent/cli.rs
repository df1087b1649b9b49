use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

use crate::{
    commands::{
        run::{Ending as CommandEnding, Report as CommandReport, Run, Text},
        runner::Commands,
    },
    workspace::{
        edits::{Step, Watch, Workspace},
        place::Place,
        refusal::{self, At, Refusal},
        set::{Change, Conflict, Digest, EditSet, Ending, Report},
        tools::{Read, Request, Search},
    },
};

/// Edits the files of one folder in sets that are made as a whole or not at all, and undone, and
/// runs commands there.
///
/// These are the tools of a coding agent, by hand: there is no agent yet.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The folder. Nothing outside of it is read or written.
    #[arg(long, global = true, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// What undo and crashes need; by default a folder beside that one, with `.edits` in its name.
    #[arg(long, global = true, value_name = "FOLDER")]
    store: Option<PathBuf>,
    /// Print each step.
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print lines of a file. Its digest, which a `write` needs, goes to standard error.
    Read {
        path: Place,
        /// The number of the first line, from 1.
        #[arg(long)]
        from: Option<usize>,
        /// The most lines.
        #[arg(long)]
        lines: Option<usize>,
    },
    /// Print the lines that contain a text.
    Search {
        text: String,
        /// The folder to search.
        #[arg(long, value_name = "PATH")]
        under: Option<Place>,
    },
    /// Make the edits of a file: a list such as `[{"tool": "patch", "path": "a.txt",
    /// "diff": "@@\n-old\n+new\n"}]`. The tools are `patch`, `write`, `delete` and `move`.
    Apply {
        edits: PathBuf,
        /// The digest of a set that removes most of a file, as confirmation.
        #[arg(long, value_name = "DIGEST")]
        confirm: Option<Digest>,
    },
    /// Undo the newest edits that are not undone.
    Undo,
    /// Run a program in the folder, without input, and list the files that changed meanwhile.
    /// It is not sandboxed: use a container for programs that you do not trust.
    Run {
        /// The time after which it is killed, in milliseconds.
        #[arg(long, value_name = "MILLISECONDS", default_value_t = 120_000)]
        timeout: u64,
        /// The digest of a dangerous command, such as a shell, as confirmation.
        #[arg(long, value_name = "DIGEST")]
        confirm: Option<Digest>,
        /// The program and its arguments, after `--`.
        #[arg(last = true, required = true)]
        argv: Vec<String>,
    },
}

pub fn main() -> ExitCode {
    run(Cli::parse()).unwrap_or_else(|refusal| {
        eprintln!("{:?}: {refusal}", refusal.code);
        ExitCode::FAILURE
    })
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn run(Cli { command, folder, store, verbose }: Cli) -> Result<ExitCode, Refusal> {
    let store = store.map_or_else(|| beside(&folder), Ok)?;
    let watch: Watch = Box::new(move |step: Step, place: &Place| {
        if verbose {
            eprintln!("{step:?} {place}");
        }
        Ok(())
    });
    let workspace = Workspace::open(&folder, &store, watch)?;
    let kept = store.join("kept");
    if let Some(report) = &workspace.recovered {
        eprintln!("an earlier run died in the middle of these edits:");
        print(report, &kept);
    }
    let commands = Commands::open(
        &workspace,
        Box::new(move |moment| {
            if verbose {
                eprintln!("{moment:?}");
            }
            Ok(())
        }),
    )?;
    if let Some(report) = &commands.interrupted {
        eprintln!("an earlier run died in the middle of this command:");
        print_command(report);
    }
    let code = match command {
        Command::Read { path, from, lines } => {
            let read = workspace.read(&Read { path, from, lines })?;
            print!("{}", read.text);
            eprintln!("from line {} of {}, digest {}", read.from, read.of, read.digest);
            ExitCode::SUCCESS
        }
        Command::Search { text, under } => {
            let found = workspace.search(&Search { text, under })?;
            for hit in &found.lines {
                println!("{}:{}: {}", hit.path, hit.line, hit.text);
            }
            found.skipped.iter().for_each(|skipped| eprintln!("not searched: {skipped}"));
            if found.cut {
                eprintln!("there are more");
            }
            ExitCode::SUCCESS
        }
        Command::Apply { edits, confirm } => {
            let text = fs::read(&edits).at(edits.display())?;
            let requests: Vec<Request> = serde_json::from_slice(&text).at(edits.display())?;
            let set = workspace.plan(&requests)?;
            print_set(&set)?;
            print(&workspace.apply(&set, confirm)?, &kept)
        }
        Command::Undo => print(&workspace.undo()?, &kept),
        Command::Run { timeout, confirm, argv } => {
            let run = Run { argv, timeout };
            eprintln!("not sandboxed; digest {}", run.digest()?);
            print_command(&commands.run(&run, confirm)?)
        }
    };
    for conflict in workspace.store.displaced()? {
        print_conflict(&conflict, &kept);
    }
    Ok(code)
}

/// The store of a folder, beside it.
fn beside(folder: &Path) -> Result<PathBuf, Refusal> {
    let path = folder.canonicalize().at(folder.display())?;
    let name = path.file_name().ok_or_else(|| Refusal::new("/", refusal::STORE_INSIDE))?;
    let mut name = name.to_owned();
    name.push(".edits");
    Ok(path.with_file_name(name))
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn print_set(set: &EditSet) -> Result<(), Refusal> {
    for Change { path, before, after } in &set.changes {
        match (before, after) {
            (None, Some(_)) => println!("create {path}"),
            (Some(_), None) => println!("delete {path}"),
            _ => println!("replace {path}"),
        }
    }
    println!("digest {}", set.digest()?);
    Ok(())
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn print(Report { number, ending, conflicts }: &Report, kept: &Path) -> ExitCode {
    let (text, code) = match ending {
        Ending::Applied => ("applied", ExitCode::SUCCESS),
        Ending::NotApplied => ("not applied", ExitCode::FAILURE),
        Ending::InDoubt => ("in doubt: look at these paths", ExitCode::FAILURE),
    };
    println!("edits {number}: {text}");
    for conflict in conflicts {
        print_conflict(conflict, kept);
    }
    code
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn print_command(report: &CommandReport) -> ExitCode {
    print!("{}", shown(&report.stdout));
    eprint!("{}", shown(&report.stderr));
    println!("command {}: {:?}", report.number, report.ending);
    if report.is_held {
        println!("a process that it started is still running");
    }
    report.seen.iter().for_each(|seen| println!("{}: changed during the command", seen.path));
    if report.ending == CommandEnding::Exited(0) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[allow(clippy::print_stdout, reason = "it is a program")]
fn print_conflict(Conflict { path, kept: name, .. }: &Conflict, kept: &Path) {
    match name {
        Some(name) => println!("{path}: what was written here is in {}", kept.join(name).display()),
        None => println!("{path}: changed by somebody else, and left as it is"),
    }
}

fn shown(Text { left_out, end }: &Text) -> String {
    match left_out {
        0 => end.clone(),
        _ => format!("({left_out} bytes are left out)\n{end}"),
    }
}
