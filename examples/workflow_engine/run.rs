use std::{
    fs,
    future::Future,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use machine::prelude::*;
use tokio::signal;

use crate::{
    engine::Engine, office, record::AnyTaskRecord, script::Script, show::Log,
    workflow::workflow::Driver,
};

/// Works on the tasks until SIGINT or SIGTERM, or only until nothing is ready. Any number of
/// processes can do so at the same time.
pub async fn run(db: &Path, actors: Actors, once: bool) -> anyhow::Result<()> {
    let stop = stopped()?;
    let store = Store::sqlite(db).await?;
    let mut log = Log::begin(&store).await?;
    let office = office(db);
    fs::create_dir_all(&office)?;
    let worker = worker(&store, actors, &office)?;
    if once {
        worker.run_until_idle().await?;
    } else {
        let worker = worker.start();
        tokio::select! {
            () = stop => {}
            error = log.follow() => return Err(error.into()),
        }
        worker.stop().await?;
    }
    Ok(log.finish().await?)
}

/// The folder with the files of the tools.
pub fn office(db: &Path) -> PathBuf {
    db.with_extension("office")
}

/// A worker for the engines, with the agent and the tools of this folder.
fn worker(store: &Store, actors: Actors, folder: &Path) -> anyhow::Result<Worker> {
    let tools = Arc::new(office::tools(folder)?);
    let engine = Engine { agent: Script, tools: Arc::clone(&tools), policy: office::POLICY };
    Ok(Worker::new(store, actors)
        .handler(Driver(engine))
        .machine::<AnyTaskRecord>()
        .other_tools(tools)
        // After this time others look after the tasks of a process that is frozen; of one that has
        // ended, at once.
        .lease(Duration::from_secs(2))
        .sweep(Duration::from_millis(100)))
}

/// Completes with SIGINT or SIGTERM, which from now on no longer end the process at once.
pub fn stopped() -> io::Result<impl Future<Output = ()> + Send> {
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
