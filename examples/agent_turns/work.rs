//! A worker, in a process of its own.

use std::{
    future, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process,
    sync::Arc,
    thread,
    time::Duration,
};

use machine::{actor::Actors, agent::Driver, store::OpenOptions, worker::Worker};

use crate::{script::Script, tools::tools};

/// How long a worker waits for the database: another one may be frozen in a commit.
const PATIENCE: Duration = Duration::from_hours(1);

/// The database in this folder.
pub fn database(folder: &Path) -> PathBuf {
    folder.join("agent.db")
}

/// Runs turns until the standard input is closed, as when the process that has started this one
/// ends.
pub async fn work(folder: &Path, web: SocketAddr) -> anyhow::Result<()> {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        // Like a kill, which loses nothing.
        process::exit(0)
    });
    let store = OpenOptions::new().busy_timeout(PATIENCE).sqlite(database(folder)).await?;
    let tools = Arc::new(tools(folder, web)?);
    let worker = Worker::new(&store, Actors::issue("worker")?)
        .handler(Driver(Script(Arc::clone(&tools))))
        .other_tools(tools)
        // After this time others take over the turns of a frozen worker; of one that has ended,
        // with their next sweep.
        .lease(Duration::from_secs(2))
        .sweep(Duration::from_millis(100));
    Ok(worker.run_until(future::pending()).await?)
}
