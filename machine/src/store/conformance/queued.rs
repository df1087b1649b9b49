//! The memory backend behind a queue and a thread: the suite must suit backends that answer later.

use std::{
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
};

use futures_channel::oneshot;

use super::run;
use crate::{
    id::Id,
    journal::Line,
    store::{
        backend::{
            Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions,
            Doorbell, Filter, Found, Identity, Messages, Operated, Registered, Rejected, Sequenced,
            Settings, Task,
        },
        error::Unavailable,
        inbox::{consumer::Offset, message::Received, protocol::Work},
        memory::Memory,
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Selected, Transitions},
        },
        upkeep::{
            pruned::Kept,
            pruning::{Candidate, Link, Pruning},
        },
        write::attempt::Attempt,
    },
};

#[test]
fn a_backend_may_answer_later() {
    run("queued", &|settings| Arc::new(Queued::new(settings)));
}

#[derive(Debug)]
struct Queued {
    memory: Arc<Memory>,
    /// The thread ends when this is dropped.
    queue: Sender<Box<dyn FnOnce() + Send>>,
}

impl Queued {
    fn new(settings: Settings) -> Self {
        let (queue, jobs) = channel::<Box<dyn FnOnce() + Send>>();
        thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Self { memory: Arc::new(Memory::new(settings)), queue }
    }

    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Memory) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = oneshot::channel();
        let memory = self.memory.clone();
        self.run(Box::new(move || {
            // A caller that has stopped waiting needs no answer.
            let _ = sender.send(pollster::block_on(call(&memory)));
        }));
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(Unavailable::stopped())) })
    }
}

impl Backend for Queued {
    fn identity(&self) -> Identity {
        self.memory.identity()
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        self.ask(|memory| memory.apply(batch))
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        self.ask(|memory| memory.rows(ids))
    }

    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>> {
        self.ask(|memory| memory.select(filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>> {
        self.ask(move |memory| memory.sessions(after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.ask(move |memory| memory.history(id, from, limit))
    }

    fn transitions(&self, of: Selected) -> Answer<Transitions> {
        self.ask(move |memory| memory.transitions(of))
    }

    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>> {
        self.ask(move |memory| memory.entries(after, limit))
    }

    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>> {
        self.ask(|memory| memory.attempts(which))
    }

    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>> {
        self.ask(move |memory| memory.agenda(kinds, limit, ended))
    }

    fn driven(&self) -> Answer<Vec<String>> {
        self.ask(|memory| memory.driven())
    }

    fn workers(&self) -> Answer<Vec<Registered>> {
        self.ask(|memory| memory.workers())
    }

    fn holders(&self) -> Answer<Vec<String>> {
        self.ask(|memory| memory.holders())
    }

    fn task(&self, id: Id) -> Answer<Task> {
        self.ask(move |memory| memory.task(id))
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.ask(|memory| memory.messages(which))
    }

    fn failing(&self) -> Answer<Vec<(Id, Work)>> {
        self.ask(|memory| memory.failing())
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.ask(move |memory| memory.children(parent))
    }

    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>> {
        self.ask(move |memory| memory.parent(child))
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.ask(Memory::definitions)
    }

    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>> {
        self.ask(move |memory| memory.links(after, limit))
    }

    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>> {
        self.ask(|memory| memory.prunable(candidates))
    }

    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>> {
        self.ask(Memory::prunings)
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>> {
        self.ask(move |memory| memory.operations(before, limit))
    }

    fn offset(&self, consumer: String) -> Answer<Option<Offset>> {
        self.ask(|memory| memory.offset(consumer))
    }

    fn newest(&self) -> Answer<u64> {
        self.ask(Memory::newest)
    }

    fn on_commit(&self, doorbell: Doorbell) {
        self.memory.on_commit(doorbell);
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        // If the thread has ended, the job is dropped, and with it its sender.
        let _ = self.queue.send(work);
    }

    fn close(&self) -> Answer<()> {
        self.ask(Memory::close)
    }
}
