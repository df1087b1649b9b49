use std::{
    future::ready,
    sync::{Mutex, Once, PoisonError},
};

use super::{defect::Defect, prelude::*};
use crate::store::{
    backend::{Backend, Broken, CallRow, DefinitionRows, Delegate, DoorbellFn},
    memory::Memory,
    read::sessions::{SessionCursor, SessionLine},
};

type Applied = Result<AppliedBatch, Rejected>;

/// A memory backend with a defect.
#[derive(Debug)]
pub(super) struct Twin {
    memory: Memory,
    defect: Option<Defect>,
    /// The batch that was answered, but is not written yet.
    late: Mutex<Option<WriteBatch>>,
}

impl Twin {
    pub(super) fn new(settings: StoreSettings, defect: Option<Defect>) -> Self {
        Self { memory: Memory::new(settings), defect, late: Mutex::default() }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn acknowledge_early(&self, batch: WriteBatch) -> Reply<Applied> {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(batch) = late.replace(batch.clone()) {
            drop(self.memory.apply(batch));
        }
        self.memory.fork().apply(batch)
    }

    /// Writes a part of a batch, and the rest if the answer to that is of this kind.
    fn write_apart(
        &self,
        part: WriteBatch,
        rest: WriteBatch,
        goes_on: fn(&Applied) -> bool,
    ) -> Reply<Applied> {
        let answer = pollster::block_on(self.memory.apply(part));
        if answer.as_ref().is_ok_and(goes_on) {
            drop(self.memory.apply(rest));
        }
        Box::pin(ready(answer))
    }

    fn write_one_by_one(&self, batch: &WriteBatch) -> Reply<Applied> {
        let mut all = AppliedBatch::default();
        for write in &batch.writes {
            let single = WriteBatch { writes: vec![write.clone()], ..batch.clone() };
            match pollster::block_on(self.memory.apply(single)) {
                Ok(Ok(applied)) => all.last.extend(applied.last),
                other => return Box::pin(ready(other)),
            }
        }
        Box::pin(ready(Ok(Ok(all))))
    }
}

impl Delegate for Twin {
    fn inner(&self) -> &dyn Backend {
        &self.memory
    }

    fn apply(&self, mut batch: WriteBatch) -> Reply<Applied> {
        let whole = batch.clone();
        let no_events = WriteBatch { events: Vec::new(), ..batch.clone() };
        match self.defect {
            Some(Defect::AcknowledgesEarly) => return self.acknowledge_early(whole),
            Some(Defect::WritesDespiteRefusal) => {
                let is_refusal = |answer: &Applied| matches!(answer, Err(Rejected::Refused { .. }));
                return self.write_apart(whole, no_events, is_refusal);
            }
            Some(Defect::WritesOneByOne) => return self.write_one_by_one(&whole),
            Some(Defect::MovesLate) if !batch.moved_children.is_empty() => {
                let first = WriteBatch { moved_children: Vec::new(), ..whole };
                let moves = WriteBatch { writes: Vec::new(), ..no_events };
                return self.write_apart(first, moves, |_| true);
            }
            Some(Defect::LogsWithoutEffect) if !batch.events.is_empty() => {
                let events = WriteBatch { log: Vec::new(), ..whole };
                return self.write_apart(events, no_events, Result::is_ok);
            }
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

    fn select(&self, mut filter: Filter) -> Reply<Vec<(u64, FoundRow)>> {
        match self.defect {
            Some(Defect::IgnoresCursor) => filter.after = None,
            Some(Defect::IgnoresDueTime) => filter.due_by = filter.due_by.map(|_| i64::MAX),
            Some(Defect::IgnoresContradiction) => filter.contradicted = false,
            Some(Defect::IgnoresTail) => filter.tail = None,
            _ => {}
        }
        self.memory.select(filter)
    }

    fn calls(&self, parent: Id, since: u64) -> Reply<Vec<Result<CallRow, Broken>>> {
        if self.has(Defect::IgnoresEntry) {
            let calls = self.memory.tamper(|data| data.calls_of(parent)).unwrap_or_default();
            return Box::pin(ready(Ok(calls.into_iter().map(Ok).collect())));
        }
        self.memory.calls(parent, since)
    }

    fn records(&self, which: Records) -> Reply<Vec<Result<Record, Broken>>> {
        let records = self.memory.records(which);
        let reverses = self.has(Defect::ReversesRecords);
        Box::pin(async move {
            let mut records = records.await?;
            if reverses {
                records.reverse();
            }
            Ok(records)
        })
    }

    fn moves_before(&self, id: Id, number: u64) -> Reply<u64> {
        if self.has(Defect::CountsEveryLine) {
            return Box::pin(ready(Ok(number)));
        }
        self.memory.moves_before(id, number)
    }

    fn newest_definition(&self) -> Reply<u64> {
        if self.has(Defect::HidesNewDefinitions) {
            return Box::pin(ready(Ok(1)));
        }
        self.memory.newest_definition()
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Reply<Vec<(u64, SessionLine)>> {
        let after = after.filter(|_| !self.has(Defect::IgnoresSessionCursor));
        self.memory.sessions(after, limit)
    }

    fn ready(
        &self,
        kinds: Vec<String>,
        limit: usize,
        now: Millis,
        ended: Vec<String>,
    ) -> Reply<Vec<ReadyMachine>> {
        let now = if self.has(Defect::TrustsTheClock) { Millis::MAX } else { now };
        let ready = self.memory.ready(kinds, limit, now, ended);
        let reverses = self.has(Defect::ReversesReady);
        Box::pin(async move {
            let mut ready = ready.await?;
            if reverses {
                ready.reverse();
            }
            Ok(ready)
        })
    }

    fn definitions(&self) -> Reply<DefinitionRows> {
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

    fn on_commit(&self, doorbell: DoorbellFn) {
        match self.defect {
            Some(Defect::RingsNever) => {}
            Some(Defect::RingsOnce) => {
                let rung = Once::new();
                self.memory.on_commit(Arc::new(move || rung.call_once(|| doorbell())));
            }
            _ => self.memory.on_commit(doorbell),
        }
    }

    fn close(&self) -> Reply<()> {
        match self.defect {
            Some(Defect::ClosesNever) => Box::pin(ready(Ok(()))),
            _ => self.memory.close(),
        }
    }
}
