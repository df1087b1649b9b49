//! The store for programs without an async runtime: the same methods, and each returns when it is
//! done.
//!
//! ```
//! use machine::actor::Actors;
//! use machine::contract::{AnyExecution, Contract, Execution};
//! use machine::store::blocking::Store;
//!
//! let store = Store::memory();
//! let actors = Actors::issue("assistant")?;
//! let question = Contract::ecs_request("Deploy to production?", &actors.reasoning_node)?;
//! let mut running = Execution::new(question).start(&actors.ecs_node);
//! store.create(&mut running)?;
//! let same: AnyExecution = store.load(running.id())?;
//! # let _ = same;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use pollster::block_on;

use crate::{
    actor::ToolNode,
    contract::{Callable, Execution, Outcome, Planned, Settled, execution::Running},
    effects::{batch::Batch, begin::Begun, recover::Recovered},
    id::Id,
    store::{
        error::{CommitError, LoadError, Unavailable},
        read::query::{Line, Page, Query},
    },
    stored::{Durable, History, Restore},
    typed::{Refused, State},
};

/// A [`Store`](super::Store) whose methods block. Do not call them on a thread of an async runtime.
#[derive(Debug, Clone)]
pub struct Store(super::Store);

/// Wraps a store for code without a runtime.
impl From<super::Store> for Store {
    fn from(store: super::Store) -> Self {
        Self(store)
    }
}

#[allow(clippy::result_large_err, reason = "the machine comes back, not a pointer to it")]
#[allow(clippy::missing_errors_doc, reason = "each method has those of the one that it calls")]
impl Store {
    /// See [`Store::memory`](super::Store::memory).
    #[must_use]
    pub fn memory() -> Self {
        Self(super::Store::memory())
    }

    /// See [`Store::sqlite`](super::Store::sqlite).
    #[cfg(feature = "sqlite")]
    pub fn sqlite(path: impl AsRef<std::path::Path>) -> Result<Self, super::OpenError> {
        block_on(super::Store::sqlite(path)).map(Self)
    }

    /// Waits for anything else that the store does, on this thread.
    ///
    /// ```
    /// # use machine::{Id, actor::Human, store::{LoadError, blocking::Store}};
    /// # fn example(store: &Store, id: Id, ann: &Human) -> Result<(), Box<dyn std::error::Error>> {
    /// let gate = store.wait(store.get().gate(id))?;
    /// let whole = gate.whole_question().ok_or("what it asks for cannot be read")?;
    /// println!("{}", whole.text);
    /// let approved = store.wait(store.get().approve(gate, whole.digest, ann))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        block_on(work)
    }

    /// The store, for everything that has no method here.
    #[must_use]
    pub fn get(&self) -> &super::Store {
        &self.0
    }

    /// See [`Store::create`](super::Store::create).
    pub fn create<M: Durable>(&self, machine: &mut M) -> Result<(), CommitError> {
        block_on(self.0.create(machine))
    }

    /// See [`Store::commit`](super::Store::commit).
    pub fn commit<M: Durable>(&self, machine: &mut M) -> Result<(), CommitError> {
        block_on(self.0.commit(machine))
    }

    /// Writes a batch of [`get`](Self::get)`().batch()`. See [`Batch::write`](Batch::write).
    pub fn write(&self, batch: Batch<'_>) -> Result<(), CommitError> {
        block_on(batch.write())
    }

    /// See [`Store::begin`](super::Store::begin).
    pub fn begin<T: Callable>(
        &self,
        planned: impl Into<Planned<T>>,
        by: &ToolNode,
    ) -> Result<Begun<T>, Refused<Planned<T>, CommitError>> {
        block_on(self.0.begin(planned, by))
    }

    /// See [`Store::settle`](super::Store::settle).
    pub fn settle(
        &self,
        running: Execution<Running>,
        outcome: Outcome,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Outcome), CommitError>> {
        block_on(self.0.settle(running, outcome, by))
    }

    /// See [`Store::recover`](super::Store::recover).
    pub fn recover(&self) -> Result<Recovered, CommitError> {
        block_on(self.0.recover())
    }

    /// See [`Store::load`](super::Store::load).
    pub fn load<M: Restore>(&self, id: Id) -> Result<M, LoadError> {
        block_on(self.0.load(id))
    }

    /// See [`Store::resume`](super::Store::resume).
    pub fn resume<S>(&self, id: Id) -> Result<S::Machine, LoadError>
    where
        S: State<Any: Restore>,
    {
        block_on(self.0.resume::<S>(id))
    }

    /// See [`Store::list`](super::Store::list).
    pub fn list(&self, query: &Query) -> Result<Page<Result<Line, LoadError>>, LoadError> {
        block_on(self.0.list(query))
    }

    /// See [`Store::history`](super::Store::history).
    pub fn history(&self, id: Id) -> Result<History, LoadError> {
        block_on(self.0.history(id))
    }

    /// See [`Store::close`](super::Store::close).
    pub fn close(&self) -> Result<(), Unavailable> {
        block_on(self.0.close())
    }
}
