use std::io::Write;

use super::{Context, Error, Exit, ids, output::Format, progress::Progress, terminal};
use machine::{
    Id,
    store::{LoadError, Store},
    text::OneLine,
};

/// `export`: machines with their whole histories, as JSON.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The ids of the machines, or the last digits of each, at least 8.
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All machines.
    #[arg(long)]
    all: bool,
    /// It always is JSON: one machine on each line.
    #[command(flatten)]
    _format: Format,
}

impl Export {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        if !self.all {
            let ids = ids::find_all(&store, &self.ids).await?;
            for id in ids {
                write(&store, id).await??;
            }
            return Ok(Exit::Done);
        }
        let (progress, ids) = (Progress::of("machines"), context.observer(&store).ids().await?);
        let (mut exit, total) = (Exit::Done, ids.len() as u64);
        for (done, id) in ids.into_iter().enumerate() {
            match write(&store, id).await? {
                // Pruned in the meantime.
                Ok(()) | Err(LoadError::NotFound { .. }) => {}
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(error) => {
                    // It does not hide the others.
                    let error = error.to_string();
                    let _ = writeln!(std::io::stderr(), "not exported: {}", OneLine(&error));
                    exit = Exit::Problems;
                }
            }
            progress.set(done as u64 + 1, total);
        }
        Ok(exit)
    }
}

/// Prints one machine; the inner error is the machine's.
async fn write(store: &Store, id: Id) -> Result<Result<(), LoadError>, Error> {
    match store.export(id).await {
        Ok(machine) => terminal::print(&crate::json::line(&machine)?).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}
