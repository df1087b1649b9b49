//! The workers that are alive, and what each of them drives.

use futures_util::FutureExt;
use serde::{Deserialize, Serialize};

use crate::{
    clock::Millis,
    definition::{Definition, Fingerprint},
    id::Id,
    process::{Liveness, Process},
    store::{
        backend::{CrewChange, WorkerRow, WriteBatch},
        error::{LoadError, Unavailable},
        handle::Store,
        process::host,
    },
};

/// A live worker, with the kinds that it drives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveWorker {
    /// Its id, new with each start.
    pub id: Id,
    /// Its process.
    pub process: Process,
    /// When it started (milliseconds since the Unix epoch, by the clock of the store).
    pub since: Millis,
    /// The kinds of machines that it has handlers for.
    pub kinds: Vec<DrivenKind>,
    /// The kinds of actors whose messages it applies; see `Worker::sender`.
    pub senders: Vec<String>,
    /// The names of its tools, such as `email.send`.
    pub tools: Vec<String>,
    /// It also runs tools that are known at run time only.
    pub other_tools: bool,
}

/// A kind of machines that a worker drives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrivenKind {
    /// The definition's name, such as `order`.
    pub machine: String,
    /// The definition of the worker's program.
    pub definition: Fingerprint,
}

impl LiveWorker {
    pub(crate) fn drives(&self, machine: &str) -> bool {
        self.kinds.iter().any(|kind| kind.machine == machine)
    }

    pub(crate) fn runs(&self, tool: &str) -> bool {
        self.other_tools || self.tools.iter().any(|known| known == tool)
    }
}

/// The capabilities of a worker, for its row.
#[derive(Debug, Serialize, Deserialize)]
struct WorkerBody {
    process: Process,
    since: Millis,
    kinds: Vec<(String, String)>,
    senders: Vec<String>,
    tools: Vec<String>,
    other_tools: bool,
}

impl WorkerBody {
    fn read(registered: &WorkerRow) -> Option<LiveWorker> {
        let Self { process, since, kinds, senders, tools, other_tools } =
            serde_json::from_str(&registered.body).ok()?;
        let kinds = kinds.into_iter().filter_map(|(machine, fingerprint)| {
            let definition = u64::from_str_radix(&fingerprint, 16).ok()?;
            Some(DrivenKind { machine, definition: Fingerprint::from_u64(definition) })
        });
        let kinds = kinds.collect();
        let id = registered.id;
        Some(LiveWorker { id, process, since, kinds, senders, tools, other_tools })
    }
}

/// A worker that starts.
#[derive(Debug)]
pub(crate) struct Joining<'a> {
    pub(crate) id: Id,
    pub(crate) kinds: Vec<&'static Definition>,
    pub(crate) senders: Vec<&'static str>,
    pub(crate) tools: Vec<&'a str>,
    pub(crate) other_tools: bool,
}

impl Store {
    /// The workers of all processes that are alive, by the locks that they hold, oldest first. A worker is there
    /// from its start to its end.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    ///
    /// ```
    /// # pollster::block_on(async {
    /// # let store = machine::store::Store::memory();
    /// for worker in store.workers().await? {
    ///     println!("{} drives {:?} and runs {:?}", worker.process, worker.kinds, worker.tools);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn workers(&self) -> Result<Vec<LiveWorker>, LoadError> {
        let (alive, _) = self.crew().await?;
        // Rows that were edited by hand are skipped.
        Ok(alive.iter().filter_map(WorkerBody::read).collect())
    }

    /// The rows of workers that are alive, and of those that are not.
    async fn crew(&self) -> Result<(Vec<WorkerRow>, Vec<WorkerRow>), Unavailable> {
        let all = self.inner.backend.workers().await?;
        if all.is_empty() {
            return Ok((all, Vec::new()));
        }
        let worker = self.inner.worker.clone();
        self.run(move || {
            // The lock is there before the row.
            let is_alive = |row: &WorkerRow| {
                row.name == worker.name()
                    || matches!(worker.liveness_of_process(&row.name), Ok(Liveness::Alive))
            };
            all.into_iter().partition(is_alive)
        })
        .await
    }

    /// Makes every machine of these kinds, now and later, a matter of workers, and the worker known.
    pub(crate) async fn join(&self, joining: &Joining<'_>) -> Result<(), Unavailable> {
        let kinds = joining.kinds.iter();
        let kinds = kinds.map(|kind| (kind.name.to_string(), kind.fingerprint.to_string()));
        let body = WorkerBody {
            process: host::process().clone(),
            since: self.now(),
            kinds: kinds.collect(),
            senders: joining.senders.iter().map(|&kind| kind.to_owned()).collect(),
            tools: joining.tools.iter().map(|&tool| tool.to_owned()).collect(),
            other_tools: joining.other_tools,
        };
        let body = serde_json::to_string(&body).map_err(Unavailable::other)?;
        let name = self.worker_name().to_owned();
        let registered = WorkerRow { id: joining.id, name, body };
        let batch = WriteBatch {
            drives: joining.kinds.iter().map(|kind| kind.name.to_string()).collect(),
            // Its definitions can be compared with those of the machines that wait for it.
            definitions: joining
                .kinds
                .iter()
                .map(|kind| self.inner.definitions.own(kind))
                .collect(),
            crew: Some(CrewChange::Joins(registered)),
            ..self.new_batch()
        };
        // Nothing in it can be rejected.
        self.inner.backend.apply(batch).await.map(drop)
    }

    /// The worker has ended.
    pub(crate) async fn leave(&self, workers: Vec<Id>) -> Result<(), Unavailable> {
        let crew = Some(CrewChange::Leave(workers));
        let batch = WriteBatch { crew, ..self.new_batch() };
        self.inner.backend.apply(batch).await.map(drop)
    }

    /// Like [`leave`](Self::leave), without waiting for it.
    pub(crate) fn leave_later(&self, worker: Id) {
        // It is queued with the first poll. If it is not, the row goes when the process has ended.
        drop(self.leave(vec![worker]).now_or_never());
    }

    /// Removes the rows of workers whose process has ended.
    pub(crate) async fn remove_ended_workers(&self) -> Result<(), Unavailable> {
        let (_, ended) = self.crew().await?;
        if ended.is_empty() {
            return Ok(());
        }
        self.leave(ended.into_iter().map(|row| row.id).collect()).await
    }
}
