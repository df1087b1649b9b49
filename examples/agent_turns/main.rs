//! A planner hands work to three agents, one of which is slow, one fails, and one never answers.
//! Several processes on one file run their turns: kill or freeze any of them, and the others do
//! its work.
//!
//! [`staff`] has the agents, [`script`] a model that follows a script, and [`tools`] what it calls.
//! [`story`] starts it all, and ends with [`table`], the deliverables.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

mod crew;
mod script;
mod server;
mod staff;
mod story;
mod table;
mod tools;
mod work;

use std::{
    fmt,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
};

use clap::{Parser, Subcommand};

/// Agents that hand work to each other, run by processes that you can kill and freeze.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The number of turns of the planner. Each takes about three seconds.
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    turns: u32,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run turns until the standard input is closed. The program starts itself with this.
    #[command(hide = true)]
    Work { folder: PathBuf, web: SocketAddr },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let Cli { command, turns } = Cli::parse();
    match command {
        Some(Command::Work { folder, web }) => work::work(&folder, web).await,
        None => story::tell(turns).await,
    }
}

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}
