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

    /// Edits stored data, for backends that must fail the conformance suite.
    #[cfg(test)]
    pub(crate) fn uses(&self) -> (Vec<Id>, usize) {
        std::mem::take(&mut *lock(&self.uses))
    }

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

    fn select(&self, filter: Filter) -> Reply<Vec<(u64, FoundRow)>> {
        self.answer(|data| data.select(&filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Reply<Vec<(u64, SessionLine)>> {
        self.answer(|data| data.sessions(after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Reply<Result<Vec<Line>, Broken>> {
        self.answer(|data| Ok(data.history(id, from, limit)))
    }

    fn moves_before(&self, id: Id, number: u64) -> Reply<u64> {
        self.answer(|data| data.moves_before(id, number))
    }

    fn transitions(&self, of: Selected) -> Reply<Transitions> {
        self.answer(|data| data.transitions(&of, &self.key))
    }

    fn entries(&self, after: u64, limit: usize) -> Reply<Vec<Sequenced>> {
        self.answer(|data| data.entries(after, limit))
    }

    fn attempts(&self, which: Attempts) -> Reply<Vec<Result<KeyAttempt, Broken>>> {
        self.answer(|data| data.attempts(&which).into_iter().map(Ok).collect())
    }

    fn ready(
        &self,
        kinds: Vec<String>,
        limit: usize,
        now: Millis,
        _: Vec<String>,
    ) -> Reply<Vec<ReadyMachine>> {
        // No worker of this store is in a process that could end before the store.
        self.answer(|data| data.ready(&kinds, limit, now))
    }

    fn driven(&self) -> Reply<Vec<String>> {
        self.answer(|data| data.works.driven.clone())
    }

    fn workers(&self) -> Reply<Vec<WorkerRow>> {
        self.answer(|data| data.crew.values().cloned().collect())
    }

    fn lease_holders(&self) -> Reply<Vec<String>> {
        self.answer(|data| data.lease_holders())
    }

    fn task(&self, id: Id) -> Reply<WorkRows> {
        self.answer(|data| data.task(id))
    }

    fn messages(&self, which: Messages) -> Reply<Vec<Result<Received, Broken>>> {
        self.answer(|data| data.received(&which).into_iter().map(Ok).collect())
    }

    fn schedules(&self, which: Schedules) -> Reply<Vec<(Id, Schedule)>> {
        self.answer(|data| data.schedules(which))
    }

    fn children(&self, parent: Id) -> Reply<Vec<Result<Child, Broken>>> {
        self.answer(|data| data.children(parent).into_iter().map(Ok).collect())
    }

    fn calls(&self, parent: Id, since: u64) -> Reply<Vec<Result<CallRow, Broken>>> {
        self.answer(|data| data.calls(parent, since).into_iter().map(Ok).collect())
    }

    fn call_lines(&self, entries: Vec<(Id, u64)>) -> Reply<Vec<Result<CallLine, Broken>>> {
        self.answer(move |data| data.call_lines(&entries).into_iter().map(Ok).collect())
    }

    fn same_call(&self, parent: Id, key: String) -> Reply<Vec<Result<CallRow, Broken>>> {
        self.answer(|data| data.same_call(parent, &key).into_iter().map(Ok).collect())
    }

    fn parent(&self, child: Id) -> Reply<Result<Option<Id>, Broken>> {
        self.answer(|data| Ok(data.parent(child)))
    }

    fn records(&self, which: Records) -> Reply<Vec<Result<Record, Broken>>> {
        self.answer(|data| data.records(&which).into_iter().map(Ok).collect())
    }

    fn newest_definition(&self) -> Reply<u64> {
        self.answer(|data| data.definitions.len() as u64)
    }

    fn definitions(&self) -> Reply<DefinitionRows> {
        self.answer(|data| DefinitionRows { intact: data.definitions.clone(), broken: Vec::new() })
    }

    fn links(&self, after: u64, limit: usize) -> Reply<Vec<Link>> {
        self.answer(|data| data.links(after, limit))
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Reply<Vec<Operated>> {
        self.answer(|data| {
            let found = data.operations(before, limit).into_iter();
            found.map(|(number, operation)| (number, Ok(operation))).collect()
        })
    }

    fn newest(&self) -> Reply<u64> {
        self.answer(|data| data.newest())
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
