//! A workflow engine: an agent plans, tools execute, and a person is asked where that matters.
//! Several tasks at once; kill it at any time, and start it again.
//!
//! [`workflow`] is the machine, [`engine`] says what each state asks for, [`script`] and [`office`]
//! are an agent and its tools. Without a command it runs the whole story.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

mod agent;
mod condition;
mod engine;
mod executing;
mod office;
mod plan;
mod planning;
mod policy;
mod record;
mod run;
mod script;
mod show;
mod stage;
mod story;
mod submit;
mod work;
mod workflow;

use std::{net::SocketAddr, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::anyhow;
use clap::{CommandFactory, Parser, Subcommand};
use machine::{actor::Actors, store::Store};
use machine_console::cli::{self, Context};

/// An agent works on tasks, and asks a person where it matters. Without a command: the whole story.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Tell only the beginning, and serve a page in which you decide.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7878")]
    serve: Option<SocketAddr>,
    /// The database; `run` and `submit` create it if it does not exist.
    #[arg(long, global = true, value_name = "FILE", default_value = "engine.db")]
    db: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Submit a task.
    Submit {
        /// The goal: `greet bob`, `invite the team`, `publish the report`, `clean up`, or
        /// `pay the invoice`, whose sum is in `engine.office/invoice.txt`.
        #[arg(long)]
        goal: String,
        /// The task is ended if it takes longer, people's answers included; such as `10m`.
        #[arg(long, value_name = "TIME", value_parser = cli::duration, default_value = "24h")]
        limit: Duration,
    },
    /// Work on the tasks until Ctrl-C or SIGTERM. The files of the tools are in a folder next to
    /// the database.
    Run {
        /// Only do what is ready.
        #[arg(long)]
        once: bool,
    },
    /// The commands for people: list, show, send, confirm, and everything else that the library
    /// offers.
    #[command(flatten)]
    Operate(cli::Command),
}

fn main() -> ExitCode {
    let Cli { command, serve, db } = Cli::parse();
    let result = match (command, serve) {
        (Some(command), None) => run(command, db),
        (None, None) => story::tell().map(|()| ExitCode::SUCCESS),
        (None, Some(address)) => story::serve(address).map(|()| ExitCode::SUCCESS),
        (Some(_), Some(_)) => {
            Err(anyhow!("`--serve` is for the story; the command `serve` is for any database"))
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[tokio::main(flavor = "current_thread")]
async fn run(command: Command, db: PathBuf) -> anyhow::Result<ExitCode> {
    // The only place where actors are made: the rest of the program is handed what it needs.
    let actors = Actors::issue("engine")?;
    match command {
        Command::Submit { goal, limit } => {
            let store = Store::sqlite(&db).await?;
            let submitted = submit::submit(&store, &goal, limit, &actors.graph_runner).await?;
            show::say(format_args!("{}  is the record of the task", submitted.record));
            show::say(format_args!("{}  is the engine that works on it", submitted.engine));
        }
        Command::Run { once } => run::run(&db, actors, once).await?,
        Command::Operate(command) => {
            let context = Context::new(db, actors).program(Cli::command());
            return Ok(cli::run(command, &context).await);
        }
    }
    Ok(ExitCode::SUCCESS)
}
