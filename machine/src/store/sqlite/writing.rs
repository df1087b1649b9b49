use std::{sync::Arc, time::Instant};

use async_channel::Sender;
use futures_channel::oneshot;
use futures_util::future::{FutureExt, Shared};
use rusqlite::Connection;

use super::{
    checkpoint::Checkpoints,
    failure,
    group::Group,
    inbox::Inbox,
    readers::{Readers, Source},
    watch::Watch,
    writer::{WriteJob, Writer},
};
use crate::store::{
    backend::{AppliedBatch, Rejected, Reply, WriteBatch},
    error::{OpenError, Unavailable},
};

/// The number of batches that may be queued before callers have to wait.
const QUEUE: usize = 1024;

#[derive(Debug)]
pub(super) struct Writing {
    jobs: Sender<WriteJob>,
    /// The result of closing the file, when the thread has ended.
    closed: Shared<oneshot::Receiver<Result<(), Unavailable>>>,
}

impl Writing {
    pub(super) fn start(
        source: &Source,
        connection: Connection,
        readers: &Arc<Readers>,
        watch: &Arc<Watch>,
    ) -> Result<Self, OpenError> {
        let Source { path, settings, place, .. } = source.clone();
        let busy_ms = settings.busy_ms;
        let checkpoints = Checkpoints::new(path.clone(), place, settings.checkpoint_frames);
        let hook = Box::new(checkpoints.hook());
        let state = checkpoints.state();
        let group = Group::new(path.clone(), place, settings, connection, hook, state)
            .map_err(|error| failure::opening(&error, &path))?;
        let (jobs, inbox) = async_channel::bounded(QUEUE);
        let (closing, closed) = oneshot::channel();
        let thread = Writer {
            inbox: Inbox(inbox),
            group,
            busy_ms,
            checkpoints,
            readers: Arc::clone(readers),
            watch: Arc::clone(watch),
        };
        std::thread::Builder::new()
            .name("machine-writer".to_owned())
            .spawn(move || drop(closing.send(thread.run())))
            .map_err(Unavailable::other)?;
        Ok(Self { jobs, closed: closed.shared() })
    }

    /// Writes a batch, whose caller has waited since this time.
    pub(super) fn apply(
        &self,
        batch: WriteBatch,
        since: Instant,
    ) -> Reply<Result<AppliedBatch, Rejected>> {
        let jobs = self.jobs.clone();
        Box::pin(async move {
            let (answer, outcome) = oneshot::channel();
            jobs.send(WriteJob { batch, since, answer }).await.map_err(|_| Unavailable::Stopped)?;
            outcome.await.map_err(|_| Unavailable::Stopped)?
        })
    }

    /// Stops accepting work; queued work is written.
    pub(super) fn stop(&self) {
        self.jobs.close();
    }

    pub(super) fn closed(&self) -> Reply<()> {
        let closed = self.closed.clone();
        Box::pin(async move { closed.await.unwrap_or(Err(Unavailable::Stopped)) })
    }
}
