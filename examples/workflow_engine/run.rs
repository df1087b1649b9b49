use std::{future::Future, io, path::Path, sync::Arc, time::Duration};

use machine::{actor::Actors, store::Store, worker::Worker};
use tokio::signal;

use crate::{
    engine::{Driver, Records},
    office,
    script::Script,
};

/// Works on the tasks until SIGINT or SIGTERM, or only until nothing is ready. Any number of processes can
/// do so at the same time.
pub async fn run(db: &Path, actors: Actors, once: bool) -> anyhow::Result<()> {
    let store = Store::sqlite(db).await?;
    let tools = Arc::new(office::tools(db.parent().unwrap_or(Path::new(".")))?);
    let worker = Worker::new(&store, actors)
        .handler(Driver::new(Script, Arc::clone(&tools)))
        .handler(Records)
        .other_tools(tools)
        .lease(Duration::from_secs(2))
        .sweep(Duration::from_millis(100));
    if once {
        worker.run_until_idle().await?;
    } else {
        worker.run_until(stopped()?).await?;
    }
    Ok(())
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
