use std::{io::Write, process::ExitCode};

use clap::{FromArgMatches, Subcommand};

#[cfg(feature = "http")]
use super::serve::Serve;
use super::{
    Context, Error, Exit,
    acts::{Acknowledge, Cancel, Fence, Requeue, Retry},
    backup::Backup,
    check::Check,
    confirm::Confirm,
    decide::{Approve, Decline},
    export::Export,
    list::List,
    operations::Operations,
    prompt::Prompt,
    prune::Prune,
    respond::Respond,
    send::Send,
    show::Show,
    timeline::Timeline,
    topology::Topology,
    turns::{StopTurn, Turns},
    verify::Verify,
};

/// The commands of an operator. A program can embed them: see [the
/// page](crate::cli#in-your-program).
#[derive(Debug)]
pub struct Command(Act);

// Without a doc comment: clap would take it for the help of the whole program.
#[derive(Debug, Subcommand)]
enum Act {
    /// List the machines: what needs attention first, then the others.
    List(List),
    /// Show a machine, why it waits, and the next steps.
    Show(Show),
    /// Show the history of a machine, or the executions of a session.
    Timeline(Timeline),
    /// Show the states and moves of a kind of machine.
    Topology(Topology),
    /// Show the section of a model's prompt about the executions of a session.
    Prompt(Prompt),
    /// Approve gates: their actions may run, once. All of them, or none.
    Approve(Approve),
    /// Decline gates: their actions never run. All of them, or none.
    Decline(Decline),
    /// Cancel machines that are no longer needed.
    Cancel(Cancel),
    /// Say whether an action in doubt took effect.
    Confirm(Confirm),
    /// Acknowledge a contradiction, so that it no longer needs attention.
    Acknowledge(Acknowledge),
    /// Answer a question that is not a gate, and resume it.
    Respond(Respond),
    /// Fence the worker of a call, which puts the call in doubt.
    Fence(Fence),
    /// Retry a failed execution: a new attempt with the same key.
    Retry(Retry),
    /// Retry work that workers set aside, or a machine that nothing can move.
    Requeue(Requeue),
    /// Send a machine one of its events; its program applies it.
    Send(Send),
    /// Show the agents: their active turns, what these wait for, and their queues.
    Turns(Turns),
    /// Stop a turn of an agent, in the queue or active; a worker delivers it with this reason.
    #[command(name = "stop")]
    StopTurn(StopTurn),
    /// Show the operator log: the acts of people, on the command line, over HTTP and in programs.
    Operations(Operations),
    /// Serve the inspector and the HTTP interface.
    #[cfg(feature = "http")]
    Serve(Serve),
    /// Verify histories: every step legal, every entry unchanged.
    Verify(Verify),
    /// Check that every machine can be read, also by a new program.
    Check(Check),
    /// Delete machines that have ended; their keys stay protected.
    Prune(Prune),
    /// Copy the file while programs write to it.
    Backup(Backup),
    /// Print machines with their whole histories as JSON.
    Export(Export),
}

impl Command {
    /// The file that it names itself.
    pub(super) fn file(&self) -> Option<std::path::PathBuf> {
        match &self.0 {
            #[cfg(feature = "http")]
            Act::Serve(serve) => serve.file.clone(),
            _ => None,
        }
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        Act::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Subcommand for Command {
    fn augment_subcommands(program: clap::Command) -> clap::Command {
        Act::augment_subcommands(program)
    }

    fn augment_subcommands_for_update(program: clap::Command) -> clap::Command {
        Act::augment_subcommands_for_update(program)
    }

    fn has_subcommand(name: &str) -> bool {
        Act::has_subcommand(name)
    }
}

/// Runs a command: prints its answer, or, on standard error, the reason why it was not carried out.
/// The caller exits with the returned code, even in a `main` with a `Result`: see [the
/// page](crate::cli#in-your-program).
pub async fn run(command: Command, context: &Context) -> ExitCode {
    match Box::pin(execute(command, context)).await {
        Ok(exit) => exit.into(),
        Err(error) => {
            // The reader may have closed it.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            error.into()
        }
    }
}

/// Like [`run`], for a caller that reports the error itself. A closed output ends a command and is
/// not an error.
///
/// # Errors
///
/// [`Error`] if the command was refused or failed. A `main` that returns it exits with 1 instead of
/// its [code](Error::exit_code).
///
/// ```
/// use clap::Parser;
/// use machine::actor::Actors;
/// use machine_console::cli::{Command, Context};
///
/// # #[derive(Parser)] struct Cli { #[command(subcommand)] command: Command }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let cli = Cli::parse_from(["mailer", "list"]);
/// let context = Context::new("missing.db", Actors::issue("mailer")?);
/// let error = machine_console::cli::execute(cli.command, &context).await.unwrap_err();
/// assert_eq!(error.exit_code(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn execute(command: Command, context: &Context) -> Result<Exit, Error> {
    let done = match command.0 {
        Act::List(list) => list.run(context).await,
        Act::Show(show) => show.run(context).await,
        Act::Approve(approve) => approve.run(context).await,
        Act::Decline(decline) => decline.run(context).await,
        Act::Cancel(cancel) => cancel.run(context).await,
        Act::Confirm(confirm) => confirm.run(context).await,
        Act::Acknowledge(acknowledge) => acknowledge.run(context).await,
        Act::Respond(respond) => respond.run(context).await,
        Act::Fence(fence) => fence.run(context).await,
        Act::Retry(retry) => retry.run(context).await,
        Act::Requeue(requeue) => requeue.run(context).await,
        Act::Send(send) => send.run(context).await,
        #[cfg(feature = "http")]
        Act::Serve(serve) => serve.run(context).await,
        Act::Timeline(timeline) => timeline.run(context).await,
        Act::Topology(topology) => topology.run(context).await,
        Act::Prompt(prompt) => prompt.run(context).await,
        Act::Turns(turns) => turns.run(context).await,
        Act::StopTurn(stop) => stop.run(context).await,
        Act::Operations(operations) => operations.run(context).await,
        Act::Verify(verify) => verify.run(context).await,
        Act::Check(check) => check.run(context).await,
        Act::Prune(prune) => prune.run(context).await,
        Act::Backup(backup) => backup.run(context).await,
        Act::Export(export) => export.run(context).await,
    };
    match done {
        Err(error) if error.is_closed() => Ok(Exit::Done),
        done => done.map_err(|error| error.with_text(|text| context.with_commands(text))),
    }
}
