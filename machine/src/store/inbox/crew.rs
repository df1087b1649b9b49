//! The workers that are alive, and what each of them drives.

use serde::{Deserialize, Serialize};

use crate::{
    clock::Millis,
    definition::Definition,
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
    /// The names of the machines that it has handlers for, such as `order`.
    pub kinds: Vec<String>,
    /// The names of its tools, such as `email.send`.
    pub tools: Vec<String>,
    /// It also runs tools that are known at run time only.
    pub other_tools: bool,
    /// Its process is there, but it has not looked for work for a minute or longer.
    pub(crate) is_silent: bool,
}

/// The time by which a worker may be late to look for work until it counts as silent.
const SILENT_AFTER: Millis = 60 * 1000;

impl LiveWorker {
    pub(crate) fn drives(&self, machine: &str) -> bool {
        self.kinds.iter().any(|kind| kind == machine)
    }

    pub(crate) fn runs(&self, tool: &str) -> bool {
        self.other_tools || self.tools.iter().any(|known| known == tool)
    }
}

/// What the rows of workers say.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    pub(crate) alive: Vec<LiveWorker>,
    gone: Vec<Id>,
}

/// The capabilities of a worker, for its row.
#[derive(Debug, Serialize, Deserialize)]
struct WorkerBody {
    process: Process,
    since: Millis,
    kinds: Vec<String>,
    tools: Vec<String>,
    other_tools: bool,
}

impl WorkerBody {
    /// Rows that were edited by hand cannot be read.
    fn read(registered: &WorkerRow) -> Option<LiveWorker> {
        let Self { process, since, kinds, tools, other_tools } =
            serde_json::from_str(&registered.body).ok()?;
        let (id, is_silent) = (registered.id, false);
        Some(LiveWorker { id, process, since, kinds, tools, other_tools, is_silent })
    }
}

/// A worker of this process, and its row among those of all processes.
pub(crate) struct Registration {
    pub(crate) store: Store,
    pub(crate) id: Id,
    pub(crate) kinds: Vec<&'static Definition>,
    pub(crate) tools: Vec<String>,
    pub(crate) other_tools: bool,
}

impl Store {
    /// The live workers of all processes, oldest first; a worker is alive while its lock is held. A
    /// worker is listed from its start to its end.
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
        Ok(self.crew().await?.alive)
    }

    pub(crate) async fn crew(&self) -> Result<Crew, Unavailable> {
        let now = self.now();
        let mut crew = Crew::default();
        let rows = self.inner.backend.workers().await?.into_iter();
        let mut joined: Vec<_> = rows.map(|row| (WorkerBody::read(&row), row)).collect();
        if !joined.is_empty() {
            let lock = self.inner.worker.clone();
            let look = move || -> (Vec<_>, Vec<_>) {
                for (worker, row) in &mut joined {
                    let late = lock.looks_by(&row.name).map_or(0, |by| now.saturating_sub(by));
                    if let Some(worker) = worker {
                        worker.is_silent = late > SILENT_AFTER;
                    }
                }
                // The lock is there before the row.
                joined.into_iter().partition(|(_, row)| {
                    row.name == lock.name()
                        || matches!(lock.liveness_of_process(&row.name), Ok(Liveness::Alive))
                })
            };
            let (alive, ended) = self.run(look).await?;
            crew.alive = alive.into_iter().filter_map(|(worker, _)| worker).collect();
            crew.gone = ended.into_iter().map(|(_, row)| row.id).collect();
        }
        Ok(crew)
    }
}

impl Registration {
    fn row(&self) -> Result<WorkerRow, Unavailable> {
        let body = WorkerBody {
            process: host::process().clone(),
            since: self.store.now(),
            kinds: self.kinds.iter().map(|kind| kind.name.to_string()).collect(),
            tools: self.tools.clone(),
            other_tools: self.other_tools,
        };
        let body = serde_json::to_string(&body).map_err(Unavailable::other)?;
        Ok(WorkerRow { id: self.id, name: self.store.inner.worker.name().to_owned(), body })
    }

    async fn write(&self, batch: WriteBatch) -> Result<(), Unavailable> {
        // Nothing in it can be rejected.
        self.store.inner.backend.apply(batch).await.map(drop)
    }

    async fn change(&self, change: CrewChange) -> Result<(), Unavailable> {
        self.write(WriteBatch { crew: Some(change), ..self.store.new_batch() }).await
    }

    /// Makes every machine of its kinds, now and later, a matter of workers, and the worker known.
    pub(crate) async fn join(&self) -> Result<(), Unavailable> {
        let registered = self.row()?;
        let own = |&kind: &&'static Definition| self.store.inner.definitions.own(kind);
        self.write(WriteBatch {
            drives: self.kinds.iter().map(|kind| kind.name.to_string()).collect(),
            // Its definitions can be compared with those of the machines that wait for it.
            definitions: self.kinds.iter().map(own).collect(),
            crew: Some(CrewChange::Put(registered)),
            ..self.store.new_batch()
        })
        .await
    }

    pub(crate) async fn leave(&self) -> Result<(), Unavailable> {
        self.change(CrewChange::Remove(vec![self.id])).await
    }

    /// Removes the rows of workers whose process has ended.
    pub(crate) async fn remove_ended_workers(&self) -> Result<(), Unavailable> {
        let gone = self.store.crew().await?.gone;
        if gone.is_empty() { Ok(()) } else { self.change(CrewChange::Remove(gone)).await }
    }
}
