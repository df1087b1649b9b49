//! The store without a file, for tests and for work that may be lost.

mod apply;
mod attempts;
mod data;
mod operations;
mod precondition;
mod prune;
mod read;
mod work;

use std::{
    fmt,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

pub(in crate::store) use data::{Data, Stored};

use super::{
    SessionCursor, SessionLine, Unavailable,
    backend::{
        Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions, Doorbell,
        Filter, Found, Identity, Messages, Operated, Registered, Rejected, Sequenced, Settings,
        Task,
    },
    inbox::{consumer::Offset, message::Received, protocol::Work},
    read::transitions::{Selected, Transitions},
    upkeep::{
        pruned::Kept,
        pruning::{Candidate, Link, Pruning},
    },
    write::attempt::Attempt,
};
use crate::{
    id::Id,
    journal::{DigestKey, Line},
};

/// Keeps everything in memory. Every call does its work at once, so that its answer is ready.
pub(crate) struct Memory {
    identity: Identity,
    key: DigestKey,
    /// `None` after [`close`](Backend::close).
    data: Mutex<Option<Data>>,
    doorbells: Mutex<Vec<Doorbell>>,
    /// The rows that were read, and the number of batches.
    #[cfg(test)]
    uses: Mutex<(Vec<Id>, usize)>,
}

impl Memory {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            identity: Identity { store: Id::fresh(), generation: 1 },
            key: settings.key,
            data: Mutex::new(Some(Data::default())),
            doorbells: Mutex::default(),
            #[cfg(test)]
            uses: Mutex::default(),
        }
    }

    fn answer<T: Send + 'static>(&self, work: impl FnOnce(&mut Data) -> T) -> Answer<T> {
        let answer = lock(&self.data).as_mut().map(work).ok_or_else(Unavailable::stopped);
        Box::pin(ready(answer))
    }

    /// Rings without a lock, because a doorbell may call the backend.
    fn ring(&self) {
        let doorbells = lock(&self.doorbells).clone();
        for doorbell in doorbells {
            doorbell();
        }
    }

    /// A copy that goes its own way.
    #[cfg(test)]
    pub(in crate::store) fn fork(&self) -> Self {
        Self {
            identity: self.identity,
            key: self.key,
            data: Mutex::new(lock(&self.data).clone()),
            doorbells: Mutex::default(),
            #[cfg(test)]
            uses: Mutex::default(),
        }
    }

    /// Edits what is stored, for backends that must fail the conformance suite.
    #[cfg(test)]
    pub(crate) fn uses(&self) -> (Vec<Id>, usize) {
        std::mem::take(&mut *lock(&self.uses))
    }

    #[cfg(test)]
    pub(in crate::store) fn tamper<T>(&self, edit: impl FnOnce(&mut Data) -> T) -> Option<T> {
        lock(&self.data).as_mut().map(edit)
    }
}

/// A panic under the lock cannot leave half a batch: nothing is written before all is checked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for Memory {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        #[cfg(test)]
        {
            lock(&self.uses).1 += 1;
        }
        let answer = self.answer(|data| data.apply(&batch, &self.key));
        self.ring();
        answer
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        #[cfg(test)]
        lock(&self.uses).0.extend(&ids);
        self.answer(|data| data.rows(&ids))
    }

    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>> {
        self.answer(|data| data.select(&filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>> {
        self.answer(|data| data.sessions(after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.answer(|data| Ok(data.history(id, from, limit)))
    }

    fn transitions(&self, of: Selected) -> Answer<Transitions> {
        self.answer(|data| data.transitions(&of, &self.key))
    }

    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>> {
        self.answer(|data| data.entries(after, limit))
    }

    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>> {
        self.answer(|data| data.attempts(&which).into_iter().map(Ok).collect())
    }

    fn agenda(&self, kinds: Vec<String>, limit: usize, _: Vec<String>) -> Answer<Vec<Agenda>> {
        // No worker of this store is in a process that could end before the store.
        self.answer(|data| data.agenda(&kinds, limit))
    }

    fn driven(&self) -> Answer<Vec<String>> {
        self.answer(|data| data.works.driven.clone())
    }

    fn workers(&self) -> Answer<Vec<Registered>> {
        self.answer(|data| data.crew.values().cloned().collect())
    }

    fn holders(&self) -> Answer<Vec<String>> {
        self.answer(|data| data.holders())
    }

    fn task(&self, id: Id) -> Answer<Task> {
        self.answer(|data| data.task(id))
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.answer(|data| data.received(&which).into_iter().map(Ok).collect())
    }

    fn failing(&self) -> Answer<Vec<(Id, Work)>> {
        self.answer(|data| data.failing())
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.answer(|data| data.children(parent).into_iter().map(Ok).collect())
    }

    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>> {
        self.answer(|data| Ok(data.parent(child)))
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.answer(|data| Definitions { intact: data.definitions.clone(), broken: Vec::new() })
    }

    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>> {
        self.answer(|data| data.links(after, limit))
    }

    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>> {
        self.answer(|data| candidates.into_iter().map(|it| data.prunable(it)).collect())
    }

    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>> {
        self.answer(|data| data.prunings.iter().cloned().map(Ok).collect())
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>> {
        self.answer(|data| {
            let found = data.operations(before, limit).into_iter();
            found.map(|(number, operation)| (number, Ok(operation))).collect()
        })
    }

    fn offset(&self, consumer: String) -> Answer<Option<Offset>> {
        self.answer(|data| data.consumers.get(&consumer).copied())
    }

    fn newest(&self) -> Answer<u64> {
        self.answer(|data| data.newest())
    }

    fn on_commit(&self, doorbell: Doorbell) {
        lock(&self.doorbells).push(doorbell);
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn close(&self) -> Answer<()> {
        lock(&self.data).take();
        // A doorbell may own the handle that owns this backend.
        let doorbells = std::mem::take(&mut *lock(&self.doorbells));
        drop(doorbells);
        Box::pin(ready(Ok(())))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("identity", &self.identity).finish_non_exhaustive()
    }
}
