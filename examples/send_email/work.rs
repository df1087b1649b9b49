//! The worker: it sends what was approved, and ends what was not.

use std::{collections::HashMap, future::Future, io, pin::pin, time::Duration};

use machine::{
    Id,
    actor::Actors,
    contract::AnyExecution,
    observe::Observer,
    store::{LoadError, Position, Store},
    stored::VerifyError,
    view::Label,
    worker::Worker,
};
use machine_console::cli::Context;
use tokio::signal;

use crate::{
    invite::AnyInvitation,
    mail::{SendMail, Smtp},
    show::{self, say},
};

/// Works until SIGINT or SIGTERM, or only until nothing is ready. Any number of processes can do so
/// at the same time.
pub async fn work(
    store: &Store,
    actors: Actors,
    context: &Context,
    smtp: Smtp,
    lease: Duration,
    once: bool,
) -> anyhow::Result<()> {
    let start = store.position().await?;
    let mut entries = store.subscribe(Some(start)).await?;
    let worker =
        Worker::new(store, actors).lease(lease).tool::<SendMail>(smtp).machine::<AnyInvitation>();
    let mut work = pin!(async {
        if once {
            return Ok(worker.run_until_idle().await?);
        }
        let stop = stopped()?;
        let stop = async {
            stop.await;
            say(format_args!(
                "stopping: a mail on its way is waited for, so that its receipt is kept"
            ));
        };
        say(format_args!("sending what is approved; Ctrl-C stops it"));
        anyhow::Ok(worker.run_until(stop).await?)
    });
    let mut log = Log { context, store, at: start, labels: HashMap::new() };
    let mut is_readable = true;
    loop {
        tokio::select! {
            ended = &mut work => {
                ended?;
                break;
            }
            // A log that cannot be read does not stop the work.
            entry = entries.next(), if is_readable => match entry {
                Ok(entry) => log.print(entry.id, entry.position).await,
                Err(LoadError::Unavailable(error)) => {
                    say(format_args!("no more log: {error}"));
                    is_readable = false;
                }
                Err(error) => say(format_args!("unreadable: {error}")),
            }
        }
    }
    // The position of the last commit.
    let end = store.position().await?;
    while is_readable && log.at < end {
        let Ok(entry) = entries.next().await else { break };
        log.print(entry.id, entry.position).await;
    }
    Ok(())
}

/// Prints changes of the mails, whichever process sends them.
struct Log<'a> {
    context: &'a Context,
    store: &'a Store,
    at: Position,
    /// The labels that were printed last.
    labels: HashMap<Id, Label>,
}

impl Log<'_> {
    async fn print(&mut self, id: Id, at: Position) {
        self.at = at;
        let execution = match self.store.load::<AnyExecution>(id).await {
            Ok(execution) => execution,
            // An invitation.
            Err(LoadError::Unreadable(VerifyError::OtherMachine { .. })) => return,
            Err(error) => return say(format_args!("unreadable: {error}")),
        };
        let label = Label::of(&execution);
        let is_news = self.labels.insert(id, label) != Some(label);
        // Tasks of people are printed where they ask.
        if !is_news || matches!(label, Label::Deferred | Label::NotStarted | Label::Waiting) {
            return;
        }
        let observer = Observer::new(self.store);
        if let Err(error) = show::execution(self.context, &observer, &execution).await {
            say(format_args!("unreadable: {error}"));
        }
    }
}

/// Completes with SIGINT or SIGTERM, which from now on no longer end the process at once.
fn stopped() -> io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        let terminated = terminate.recv();
        #[cfg(not(unix))]
        let terminated = std::future::pending::<Option<()>>();
        tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = terminated => {}
        }
    })
}
