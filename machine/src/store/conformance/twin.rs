use std::{
    future::ready,
    sync::{Arc, Mutex, Once, PoisonError},
};

use super::defect::Defect;
use crate::{
    id::Id,
    journal::Line,
    store::{
        backend::{
            Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions,
            Doorbell, Filter, Found, Identity, Messages, Operated, Registered, Rejected, Sequenced,
            Settings, Task,
        },
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

/// A memory backend with a defect.
#[derive(Debug)]
pub(super) struct Twin {
    memory: Memory,
    defect: Option<Defect>,
    /// The batch that was answered, but is not written yet.
    late: Mutex<Option<Batch>>,
}

impl Twin {
    pub(super) fn new(settings: Settings, defect: Option<Defect>) -> Self {
        Self { memory: Memory::new(settings), defect, late: Mutex::default() }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn acknowledge_early(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = late.replace(batch.clone()) {
            drop(self.memory.apply(batch));
        }
        self.memory.fork().apply(batch)
    }

    fn write_despite_refusal(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        let answer = pollster::block_on(self.memory.apply(batch.clone()));
        if let Ok(Err(Rejected::Refused { .. })) = answer {
            drop(self.memory.apply(Batch { events: Vec::new(), ..batch }));
        }
        Box::pin(ready(answer))
    }

    fn write_one_by_one(&self, batch: &Batch) -> Answer<Result<Applied, Rejected>> {
        let mut all = Applied::default();
        for write in &batch.writes {
            let single = Batch { writes: vec![write.clone()], ..batch.clone() };
            match pollster::block_on(self.memory.apply(single)) {
                Ok(Ok(applied)) => all.last.extend(applied.last),
                other => return Box::pin(ready(other)),
            }
        }
        Box::pin(ready(Ok(Ok(all))))
    }
}

impl Backend for Twin {
    fn identity(&self) -> Identity {
        self.memory.identity()
    }

    fn apply(&self, mut batch: Batch) -> Answer<Result<Applied, Rejected>> {
        match self.defect {
            Some(Defect::AcknowledgesEarly) => return self.acknowledge_early(batch),
            Some(Defect::WritesDespiteRefusal) => return self.write_despite_refusal(batch),
            Some(Defect::WritesOneByOne) => return self.write_one_by_one(&batch),
            _ => {}
        }
        let writes = batch.writes.len();
        if let Some(defect) = self.defect {
            defect.spoil_batch(&mut batch, &self.memory);
        }
        let before = self.memory.tamper(|data| data.entries.len()).unwrap_or(0);
        let answer = self.memory.apply(batch);
        if let Some(defect) = self.defect {
            self.memory.tamper(|data| defect.spoil_data(data, before));
        }
        Box::pin(async move {
            let mut answer = answer.await;
            // The answer does not show that a write was dropped.
            if let Ok(Ok(applied)) = &mut answer {
                applied.last.resize(writes, applied.last.last().copied().unwrap_or(0));
            }
            answer
        })
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        self.memory.rows(ids)
    }

    fn select(&self, mut filter: Filter) -> Answer<Vec<(u64, Found)>> {
        if self.has(Defect::IgnoresCursor) {
            filter.after = None;
        }
        if self.has(Defect::IgnoresDueTime) {
            filter.due_by = filter.due_by.map(|_| i64::MAX);
        }
        self.memory.select(filter)
    }

    fn sessions(
        &self,
        mut after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>> {
        if self.has(Defect::IgnoresSessionCursor) {
            after = None;
        }
        self.memory.sessions(after, limit)
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.memory.history(id, from, limit)
    }

    fn transitions(&self, of: Selected) -> Answer<Transitions> {
        self.memory.transitions(of)
    }

    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>> {
        self.memory.entries(after, limit)
    }

    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>> {
        self.memory.attempts(which)
    }

    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>> {
        let agenda = self.memory.agenda(kinds, limit, ended);
        let reverses = self.has(Defect::ReversesAgenda);
        Box::pin(async move {
            let mut agenda = agenda.await?;
            if reverses {
                agenda.reverse();
            }
            Ok(agenda)
        })
    }

    fn driven(&self) -> Answer<Vec<String>> {
        self.memory.driven()
    }

    fn workers(&self) -> Answer<Vec<Registered>> {
        self.memory.workers()
    }

    fn holders(&self) -> Answer<Vec<String>> {
        self.memory.holders()
    }

    fn task(&self, id: Id) -> Answer<Task> {
        self.memory.task(id)
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.memory.messages(which)
    }

    fn failing(&self) -> Answer<Vec<(Id, Work)>> {
        self.memory.failing()
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.memory.children(parent)
    }

    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>> {
        self.memory.parent(child)
    }

    fn definitions(&self) -> Answer<Definitions> {
        let definitions = self.memory.definitions();
        let twice = self.has(Defect::WritesDefinitionsTwice);
        Box::pin(async move {
            let mut definitions = definitions.await?;
            if twice {
                definitions.intact.extend_from_within(..);
            }
            Ok(definitions)
        })
    }

    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>> {
        self.memory.links(after, limit)
    }

    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>> {
        self.memory.prunable(candidates)
    }

    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>> {
        self.memory.prunings()
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>> {
        self.memory.operations(before, limit)
    }

    fn offset(&self, consumer: String) -> Answer<Option<Offset>> {
        self.memory.offset(consumer)
    }

    fn newest(&self) -> Answer<u64> {
        self.memory.newest()
    }

    fn on_commit(&self, doorbell: Doorbell) {
        match self.defect {
            Some(Defect::RingsNever) => {}
            Some(Defect::RingsOnce) => {
                let rung = Once::new();
                self.memory.on_commit(Arc::new(move || rung.call_once(|| doorbell())));
            }
            _ => self.memory.on_commit(doorbell),
        }
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        self.memory.run(work);
    }

    fn close(&self) -> Answer<()> {
        match self.defect {
            Some(Defect::ClosesNever) => Box::pin(ready(Ok(()))),
            _ => self.memory.close(),
        }
    }
}
