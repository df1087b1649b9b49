//! An agent asks for mails, a person approves each of them, and a worker sends it.
//!
//! Every command is a separate process. Without a command it runs the whole story.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

mod ask;
mod invite;
mod mail;
mod server;
mod show;
mod story;
mod work;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use clap::{CommandFactory, Parser, Subcommand};
use machine::{actor::Actors, store::Store};
use machine_console::cli::{self, Context};
use mailin::response;

use crate::{
    ask::{Ask, ask},
    invite::{Invite, invite},
    mail::Smtp,
    server::SmtpServer,
    work::work,
};

/// Send mails that a person approves first. Without a command: the whole story.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The database; `ask` and `work` create it if it does not exist.
    #[arg(long, global = true, value_name = "FILE", default_value = "agent.db")]
    db: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask for a mail to be sent. A person has to approve it.
    Ask(Ask),
    /// Invite guests, each by a mail that a person has to approve.
    Invite(Invite),
    /// Send what is approved, and end what is not, until Ctrl-C or SIGTERM.
    Work {
        /// The SMTP server; by default one on loopback that stores the mails next to the database.
        #[arg(long, value_name = "HOST:PORT")]
        smtp: Option<String>,
        /// After this time other workers take over the work of a frozen one. They never send a
        /// mail that it may have sent.
        #[arg(long, value_name = "TIME", value_parser = cli::duration, default_value = "2s")]
        lease: Duration,
        /// Only do what is ready.
        #[arg(long)]
        once: bool,
    },
    /// The commands for people: list, show, approve, confirm, and everything else that the library
    /// offers.
    #[command(flatten)]
    Operate(cli::Command),
}

fn main() -> ExitCode {
    let Cli { command, db } = Cli::parse();
    let result = match command {
        Some(command) => run(command, &db),
        None => story::tell().map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[tokio::main(flavor = "current_thread")]
async fn run(command: Command, db: &Path) -> anyhow::Result<ExitCode> {
    // The only place where actors are made: the rest of the program is handed what it needs.
    let actors = Actors::issue("mailer")?;
    let context = Context::new(db, Actors::issue("mailer")?).program(Cli::command());
    match command {
        Command::Ask(asked) => ask(&Store::sqlite(db).await?, &actors, &context, asked).await?,
        Command::Invite(guests) => invite(&Store::sqlite(db).await?, guests).await?,
        Command::Work { smtp, lease, once } => {
            let store = Store::sqlite(db).await?;
            let address = match smtp {
                Some(address) => address,
                None => SmtpServer::start(&db.with_extension("mails"), |_| response::OK)
                    .context("cannot start an SMTP server on loopback; pass one with --smtp")?
                    .address(),
            };
            work(&store, actors, &context, Smtp { address }, lease, once).await?;
        }
        Command::Operate(command) => return Ok(cli::run(command, &context).await),
    }
    Ok(ExitCode::SUCCESS)
}
