//! The store without a file, for tests and for work that may be lost.

mod apply;
mod attempts;
mod calls;
mod operations;
mod precondition;
mod prune;
mod read;
mod records;
mod tables;
mod work;

use std::{fmt, future::ready, sync::Mutex};

pub(in crate::store) use tables::{MachineRow, Tables};

use super::{
    SessionCursor, SessionLine, Unavailable,
    backend::{
        AppliedBatch, Attempts, Backend, Broken, CallLine, CallRow, Child, DefinitionRows,
        DoorbellFn, Filter, FoundRow, Identity, Messages, Operated, ReadyMachine, Record, Records,
        Rejected, Reply, Schedules, Sequenced, StoreSettings, WorkRows, WorkerRow, WriteBatch,
        answers,
    },
    inbox::{message::Received, protocol::Schedule},
    lock::lock,
    read::transitions::{Selected, Transitions},
    upkeep::pruning::Link,
    write::attempt::KeyAttempt,
};
use crate::{
    clock::Millis,
    future::reschedule,
    id::Id,
    journal::{DigestKey, Line},
};

/// Keeps everything in memory. Every call does its work at once, so that its answer is ready, apart
/// from that of a write that rings.
pub(crate) struct Memory {
    identity: Identity,
    key: DigestKey,
    /// `None` after [`close`](Backend::close).
    data: Mutex<Option<Tables>>,
    doorbells: Mutex<Vec<DoorbellFn>>,
    /// The rows that were read, and the number of batches.
    #[cfg(test)]
    uses: Mutex<(Vec<Id>, usize)>,
}

impl Memory {
    pub(crate) fn new(settings: StoreSettings) -> Self {
        Self {
            identity: Identity { store: Id::fresh(), generation: 1 },
            key: settings.key,
            data: Mutex::new(Some(Tables::default())),
            doorbells: Mutex::default(),
            #[cfg(test)]
            uses: Mutex::default(),
        }
    }

    fn answer<T: Send + 'static>(&self, work: impl FnOnce(&mut Tables) -> T) -> Reply<T> {
        let answer = lock(&self.data).as_mut().map(work).ok_or(Unavailable::Stopped);
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

    #[cfg(test)]
    pub(crate) fn uses(&self) -> (Vec<Id>, usize) {
        std::mem::take(&mut *lock(&self.uses))
    }

    /// Edits stored data, for backends that must fail the conformance suite.
    #[cfg(test)]
    pub(in crate::store) fn tamper<T>(&self, edit: impl FnOnce(&mut Tables) -> T) -> Option<T> {
        lock(&self.data).as_mut().map(edit)
    }
}

impl Backend for Memory {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn apply(&self, batch: WriteBatch) -> Reply<Result<AppliedBatch, Rejected>> {
        #[cfg(test)]
        {
            lock(&self.uses).1 += 1;
        }
        let answer = self.answer(|data| data.apply(&batch, &self.key));
        self.ring();
        let has_rung = !lock(&self.doorbells).is_empty();
        Box::pin(async move {
            // A worker's loop that was woken on this thread runs before the caller, who may block
            // the thread.
            if has_rung {
                reschedule().await;
            }
            answer.await
        })
    }

    fn rows(&self, ids: Vec<Id>) -> Reply<Vec<FoundRow>> {
        #[cfg(test)]
        lock(&self.uses).0.extend(&ids);
        self.answer(|data| data.rows(&ids))
    }

    fn transitions(&self, of: Selected) -> Reply<Transitions> {
        self.answer(|data| data.transitions(&of, &self.key))
    }

    answers! { answer:
        fn select(filter: Filter) -> Vec<(u64, FoundRow)> = |data| data.select(&filter);
        fn sessions(after: Option<SessionCursor>, limit: usize) -> Vec<(u64, SessionLine)> =
            |data| data.sessions(after, limit);
        fn history(id: Id, from: u64, limit: usize) -> Result<Vec<Line>, Broken> =
            |data| Ok(data.history(id, from, limit));
        fn moves_before(id: Id, number: u64) -> u64 = |data| data.moves_before(id, number);
        fn entries(after: u64, limit: usize) -> Vec<Sequenced> = |data| data.entries(after, limit);
        fn attempts(which: Attempts) -> Vec<Result<KeyAttempt, Broken>> =
            |data| data.attempts(&which).into_iter().map(Ok).collect();
        // No worker of this store is in a process that could end before the store.
        fn ready(
            kinds: Vec<String>,
            limit: usize,
            now: Millis,
            _ended: Vec<String>
        ) -> Vec<ReadyMachine> = |data| data.ready(&kinds, limit, now);
        fn driven() -> Vec<String> = |data| data.works.driven.clone();
        fn workers() -> Vec<WorkerRow> = |data| data.crew.values().cloned().collect();
        fn lease_holders() -> Vec<String> = |data| data.lease_holders();
        fn task(id: Id) -> WorkRows = |data| data.task(id);
        fn messages(which: Messages) -> Vec<Result<Received, Broken>> =
            |data| data.received(&which).into_iter().map(Ok).collect();
        fn schedules(which: Schedules) -> Vec<(Id, Schedule)> = |data| data.schedules(which);
        fn children(parent: Id) -> Vec<Result<Child, Broken>> =
            |data| data.children(parent).into_iter().map(Ok).collect();
        fn calls(parent: Id, since: u64) -> Vec<Result<CallRow, Broken>> =
            |data| data.calls(parent, since).into_iter().map(Ok).collect();
        fn call_lines(entries: Vec<(Id, u64)>) -> Vec<Result<CallLine, Broken>> =
            |data| data.call_lines(&entries).into_iter().map(Ok).collect();
        fn same_call(parent: Id, key: String) -> Vec<Result<CallRow, Broken>> =
            |data| data.same_call(parent, &key).into_iter().map(Ok).collect();
        fn parent(child: Id) -> Result<Option<Id>, Broken> = |data| Ok(data.parent(child));
        fn records(which: Records) -> Vec<Result<Record, Broken>> =
            |data| data.records(&which).into_iter().map(Ok).collect();
        fn newest_definition() -> u64 = |data| data.definitions.len() as u64;
        fn definitions() -> DefinitionRows =
            |data| DefinitionRows { intact: data.definitions.clone(), broken: Vec::new() };
        fn links(after: u64, limit: usize) -> Vec<Link> = |data| data.links(after, limit);
        fn operations(before: Option<u64>, limit: usize) -> Vec<Operated> = |data| {
            let found = data.operations(before, limit).into_iter();
            found.map(|(number, operation)| (number, Ok(operation))).collect()
        };
        fn newest() -> u64 = |data| data.newest();
    }

    fn on_commit(&self, doorbell: DoorbellFn) {
        lock(&self.doorbells).push(doorbell);
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn close(&self) -> Reply<()> {
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
