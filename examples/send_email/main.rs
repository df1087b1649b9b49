//! An agent asks for mails, a person approves each of them, and a worker sends it.
//!
//! Every command is a process of its own. Without a command it runs the whole story.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

mod commands;
mod mail;
mod server;
mod show;
mod story;
mod work;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::SignedDuration;
use machine::{
    Id,
    actor::{Actors, Human},
};

use crate::{commands::Desk, mail::SendMail};

/// Send mails that a person approves first. Without a command: the whole story.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The database; created if it does not exist.
    #[arg(long, global = true, value_name = "FILE", default_value = "agent.db")]
    db: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask for a mail to be sent. A person has to approve it.
    Ask {
        #[command(flatten)]
        mail: Option<SendMail>,
        /// The whole mail as JSON, as a model writes it.
        #[arg(
            long,
            value_name = "JSON",
            conflicts_with = "SendMail",
            required_unless_present = "SendMail"
        )]
        json: Option<String>,
        /// The approval has to be given, and used, within this time, such as `1h`.
        #[arg(long, value_name = "TIME")]
        expires: Option<SignedDuration>,
        /// How long to wait for the mail server, such as `10s`.
        #[arg(long, value_name = "TIME")]
        timeout: Option<SignedDuration>,
    },
    /// Approve a mail: the worker sends it.
    Approve {
        #[command(flatten)]
        decided: Decided,
        /// Don't show the question first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Decline a mail: it is never sent.
    Decline {
        #[command(flatten)]
        decided: Decided,
        /// Why not.
        #[arg(long, default_value = "declined")]
        reason: String,
    },
    /// Take a question back: nobody needs to answer it any more.
    Withdraw { id: Id },
    /// Send a mail again that was not sent.
    Retry(Decided),
    /// Settle a mail in doubt, after checking whether it arrived.
    Settle {
        #[command(flatten)]
        decided: Decided,
        found: Found,
        /// It was not sent, although its process may be alive: I take responsibility.
        #[arg(long = "override")]
        overridden: bool,
    },
    /// Shut out the process that is sending a mail.
    Fence { id: Id },
    /// End a mail that will not be sent.
    Cancel { id: Id },
    /// Let the worker try again what it has set aside.
    Requeue { id: Id },
    /// Send what is approved, and end what is not, until Ctrl-C or SIGTERM.
    Work {
        /// The SMTP server; by default one on loopback that stores the mails next to the database.
        #[arg(long, value_name = "HOST:PORT")]
        smtp: Option<String>,
        /// After this time other workers look after what a frozen one was doing. They never send a
        /// mail that it may have sent.
        #[arg(long, value_name = "TIME", default_value = "2s")]
        lease: SignedDuration,
        /// Only do what is ready.
        #[arg(long)]
        once: bool,
    },
    /// Show what needs attention, and what to do about it.
    Status {
        /// Show everything, with its history.
        #[arg(long)]
        all: bool,
    },
}

/// What a person decides about. Nothing is decided without an id and a name.
#[derive(Debug, Args)]
struct Decided {
    /// The id, as `status` shows it.
    id: Id,
    /// The name of the person who decides.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new)]
    by: Human,
}

/// What a person found in the mailbox.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Found {
    Sent,
    NotSent,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(command) => run(command, &cli.db),
        None => story::tell(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run(command: Command, db: &Path) -> anyhow::Result<()> {
    // The only place where actors are made: the rest of the program is handed what it needs.
    let actors = Actors::issue("mailer")?;
    Desk::open(db, actors).await?.run(command, db).await
}
