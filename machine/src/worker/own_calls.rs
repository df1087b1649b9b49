use std::{fmt, future::IntoFuture, marker::PhantomData};

use crate::{
    clock::Millis,
    contract::{AnyExecution, Callable, InvalidContract, Outcome, Progress, execution, outcome},
    future::BoxFuture,
    id::Id,
    store::{LoadError, Query, Store},
};

/// Reads the calls of a machine. See [`Task::calls`](super::Task::calls).
#[derive(Debug)]
pub struct OwnCalls<T> {
    store: Store,
    machine: Id,
    which: Which,
    tool: PhantomData<fn() -> T>,
}

#[derive(Debug)]
enum Which {
    /// Those of the entry with this number.
    Entry(u64),
    Session(String),
    Life,
}

impl<T: Callable> OwnCalls<T> {
    pub(super) fn new(store: Store, machine: Id, entered: u64) -> Self {
        Self { store, machine, which: Which::Entry(entered), tool: PhantomData }
    }

    /// The calls of this session, oldest first, from the whole life of the machine. An invocation
    /// sets the session of its calls with `session = text`. Calls of other sessions are not read.
    #[must_use = "it is read when it is awaited"]
    pub fn of_session(self, session: impl Into<String>) -> Self {
        Self { which: Which::Session(session.into()), ..self }
    }

    /// The calls of the whole life of the machine, oldest first, except [pruned](Store::prune)
    /// ones. Reads all of them.
    #[must_use = "it is read when it is awaited"]
    pub fn all(self) -> Self {
        Self { which: Which::Life, ..self }
    }

    async fn ids(&self) -> Result<Vec<Id>, LoadError> {
        let backend = &self.store.inner.backend;
        let session = match &self.which {
            Which::Entry(entered) => {
                let calls = backend.calls(self.machine, entered + 1).await?;
                return calls.into_iter().map(|call| Ok(call?.id)).collect();
            }
            Which::Life => {
                let children = self.store.children(self.machine).await?.into_iter();
                let calls = children.filter(|it| it.machine == execution::DEFINITION.name);
                return Ok(calls.map(|it| it.id).collect());
            }
            Which::Session(session) => session.as_str(),
        };
        let query = Query::new().machine(execution::DEFINITION.name.as_ref()).session(session);
        let (mut ids, mut next) = (Vec::new(), Some(query));
        while let Some(query) = next {
            let page = self.store.list(&query).await?;
            for line in page.items {
                let id = line?.id;
                if backend.parent(id).await?? == Some(self.machine) {
                    ids.push(id);
                }
            }
            next = page.next.map(|next| query.after(next));
        }
        Ok(ids)
    }

    async fn read(self) -> Result<Vec<OwnCall<T>>, OwnCallsError> {
        let ids = self.ids().await?;
        let mut calls = Vec::with_capacity(ids.len());
        for execution in self.store.executions(ids).await? {
            calls.extend(OwnCall::of(execution?)?);
        }
        Ok(calls)
    }
}

impl<T: Callable> IntoFuture for OwnCalls<T> {
    type Output = Result<Vec<OwnCall<T>>, OwnCallsError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.read())
    }
}

/// A call that a machine has made.
#[non_exhaustive]
pub struct OwnCall<T: Callable> {
    /// The arguments.
    pub arguments: T,
    /// The outcome; `None` if it has not ended, or is in doubt.
    pub outcome: Option<Outcome<T>>,
    /// When it ended (milliseconds since the Unix epoch); `None` while it has no outcome.
    pub ended_at: Option<Millis>,
    /// It is unknown whether the call took effect.
    pub is_in_doubt: bool,
    /// The execution as it was read.
    pub execution: Box<AnyExecution>,
}

impl<T: Callable> OwnCall<T> {
    /// `None` if it is a call of another tool, or none of a tool.
    fn of(execution: AnyExecution) -> Result<Option<Self>, OwnCallsError> {
        let (id, contract) = (execution.id(), execution.context());
        let is_other =
            |(service, method)| T::__tool().is_some_and(|tool| !tool.is(service, method));
        if contract.action().tool_parts().is_none_or(is_other) {
            return Ok(None);
        }
        let arguments = T::__read(contract.action(), contract.effect())
            .map_err(|source| OwnCallsError::Arguments { id, source: Box::new(source) })?;
        let outcome =
            outcome::<T>(&execution).map_err(|source| OwnCallsError::Outcome { id, source })?;
        let is_in_doubt = Progress::of(&execution).is_in_doubt();
        let has_ended = execution.status().definition().terminal;
        let ended_at = has_ended.then(|| execution.journal().past().entered_at);
        let execution = Box::new(execution);
        Ok(Some(Self { arguments, outcome, ended_at, is_in_doubt, execution }))
    }
}

impl<T: Callable> fmt::Debug for OwnCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnCall").field("execution", &self.execution).finish_non_exhaustive()
    }
}

/// Why the calls of a machine cannot be read. A handler that returns this is tried again, and its
/// machine is then set aside; after a deployment, `requeue` reads the calls again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum OwnCallsError {
    /// The storage, or one of them, cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The arguments of a call are not those of its tool.
    #[error("the arguments of {id} cannot be read: {source}")]
    Arguments { id: Id, source: Box<InvalidContract> },
    /// The receipt or the refusal of a call is of another type, or was cut.
    #[error("the outcome of {id} cannot be read: {source}")]
    Outcome { id: Id, source: serde_json::Error },
}
