//! An agent sends a mail: it asks first, its process ends, and another process approves and sends.
//!
//! Without a subcommand it runs the whole demo, each step in its own process.

#![allow(unreachable_pub, reason = "`pub` marks the interface of a module, as in a library")]

mod commands;
mod mail;
mod server;
mod show;
mod story;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};
use machine::Id;

/// Send a mail that a person approves first.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask for a mail to be sent. It waits for a person's approval.
    Ask {
        #[command(flatten)]
        at: Database,
        #[command(flatten)]
        mail: MailArguments,
        /// The timeout for sending, in seconds.
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
    },
    /// Approve a waiting mail and send it.
    Approve {
        #[command(flatten)]
        at: Database,
        #[command(flatten)]
        smtp: Smtp,
        /// Which question; may be left out while only one waits.
        id: Option<Id>,
        /// Don't ask again.
        #[arg(long, short)]
        yes: bool,
    },
    /// Refuse a waiting mail: it is never sent.
    Reject {
        #[command(flatten)]
        at: Database,
        /// Which question; may be left out while only one waits.
        id: Option<Id>,
        /// Why not.
        #[arg(long, default_value = "the person said no")]
        reason: String,
    },
    /// Retry a failed mail, as a new attempt with the same key.
    Retry {
        #[command(flatten)]
        at: Database,
        #[command(flatten)]
        smtp: Smtp,
        /// Which mail.
        id: Id,
    },
    /// Settle a mail in doubt, after checking whether it was sent.
    Settle {
        #[command(flatten)]
        at: Database,
        /// Which mail.
        id: Id,
        /// What you found.
        found: Found,
    },
    /// Show what happened, and what waits for an answer.
    Status {
        #[command(flatten)]
        at: Database,
    },
}

impl Command {
    fn db(&self) -> &Path {
        match self {
            Self::Ask { at, .. }
            | Self::Approve { at, .. }
            | Self::Reject { at, .. }
            | Self::Retry { at, .. }
            | Self::Settle { at, .. }
            | Self::Status { at } => &at.db,
        }
    }
}

#[derive(Debug, Args)]
struct Database {
    /// The database; created if it does not exist.
    #[arg(long, value_name = "FILE")]
    db: PathBuf,
}

#[derive(Debug, Args)]
struct Smtp {
    /// The SMTP server; by default one on loopback that stores the mails next to the database.
    #[arg(long, value_name = "HOST:PORT")]
    smtp: Option<String>,
}

#[derive(Debug, Args)]
struct MailArguments {
    /// The recipient.
    #[arg(long, required_unless_present = "detail")]
    to: Option<String>,
    /// The subject.
    #[arg(long, default_value = "Meeting")]
    subject: String,
    /// The body.
    #[arg(long, default_value = "Shall we meet on Monday at ten?")]
    body: String,
    /// The whole mail as JSON: {"to": .., "subject": .., "body": ..}.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["to", "subject", "body"])]
    detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Found {
    /// The mail was sent.
    Sent,
    /// The mail was not sent.
    NotSent,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(command) => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Into::into)
            .and_then(|runtime| runtime.block_on(commands::run(command))),
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
