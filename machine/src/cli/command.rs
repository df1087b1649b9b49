use super::{
    Context, Error, Exit,
    cancel::Cancel,
    confirm::Confirm,
    decide::{Approve, Decline},
    fence::Fence,
    list::List,
    requeue::Requeue,
    retry::Retry,
    send::Send,
    show::Show,
};

/// The commands of an operator. A program can have them with its own:
///
/// ```
/// use clap::{Parser, Subcommand};
///
/// #[derive(Debug, Parser)]
/// struct Cli {
///     #[command(subcommand)]
///     command: Command,
/// }
///
/// #[derive(Debug, Subcommand)]
/// enum Command {
///     /// Send mails that were approved.
///     Work,
///     #[command(flatten)]
///     Operate(machine::cli::Command),
/// }
///
/// let cli = Cli::parse_from(["mailer", "list", "--attention-only"]);
/// assert!(matches!(cli.command, Command::Operate(_)));
/// ```
#[derive(Debug, clap::Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// List the machines: what needs attention first, then the others.
    List(List),
    /// Show a machine, what it waits for, and what to do next.
    Show(Show),
    /// Approve what gates ask for: it may run, once. All of them, or none.
    Approve(Approve),
    /// Decline what gates ask for: it never runs. All of them, or none.
    Decline(Decline),
    /// Cancel what is not needed any more.
    Cancel(Cancel),
    /// Say whether an action in doubt took place.
    Confirm(Confirm),
    /// Shut out the worker of a call, which puts the call in doubt.
    Fence(Fence),
    /// Try again what failed: a new attempt with the same key.
    Retry(Retry),
    /// Let workers try again what they set aside.
    Requeue(Requeue),
    /// Send a machine one of its events; its program applies it.
    Send(Send),
}

impl Command {
    /// Whether it reads a file.
    pub(super) fn needs_file(&self) -> bool {
        true
    }
}

/// Runs a command: prints its answer, or returns why it was not carried out. A closed output is the end
/// of a command, and no error.
///
/// # Errors
///
/// [`Error`] if the command was refused or failed; the caller prints it and exits with its
/// [code](Error::exit_code).
///
/// ```
/// use clap::Parser;
/// use machine::actor::Actors;
/// use machine::cli::{Command, Context};
///
/// # #[derive(Parser)] struct Cli { #[command(subcommand)] command: Command }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let cli = Cli::parse_from(["mailer", "list"]);
/// let context = Context::new("missing.db", Actors::issue("mailer")?);
/// let error = machine::cli::run(cli.command, &context).await.unwrap_err();
/// assert_eq!(error.exit_code(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn run(command: Command, context: &Context) -> Result<Exit, Error> {
    let done = match command {
        Command::List(list) => list.run(context).await,
        Command::Show(show) => show.run(context).await,
        Command::Approve(approve) => approve.run(context).await,
        Command::Decline(decline) => decline.run(context).await,
        Command::Cancel(cancel) => cancel.run(context).await,
        Command::Confirm(confirm) => confirm.run(context).await,
        Command::Fence(fence) => fence.run(context).await,
        Command::Retry(retry) => retry.run(context).await,
        Command::Requeue(requeue) => requeue.run(context).await,
        Command::Send(send) => send.run(context).await,
    };
    match done {
        Err(error) if error.is_closed() => Ok(Exit::Done),
        done => done,
    }
}
