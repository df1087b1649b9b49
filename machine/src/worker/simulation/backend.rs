use std::{
    fmt,
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use futures_channel::oneshot;
use futures_util::FutureExt;

use super::{
    mail,
    process::Process,
    shared::{End, Fate, Shared},
};
use crate::{
    id::Id,
    journal::Line,
    store::{
        Kept, Received, SessionCursor, SessionLine, Unavailable,
        backend::{
            Agenda, Answer, Applied, Attempts, Backend, Batch, Broken, Child, Definitions,
            Doorbell, Filter, Found, Identity, Messages, Operated, Registered, Rejected, Sequenced,
            Task,
        },
        inbox::{consumer::Offset, protocol::Work},
        read::transitions::{Selected, Transitions},
        upkeep::pruning::{Candidate, Link, Pruning},
        write::attempt::Attempt,
    },
};

/// The store as one process sees it: calls take their time, fail, lose their answers, and end the
/// process.
#[derive(Clone)]
pub(super) struct Faulty {
    pub(super) shared: Arc<Shared>,
    pub(super) process: Arc<Process>,
}

type Written = Result<Result<Applied, Rejected>, Unavailable>;

impl Faulty {
    /// Writes now.
    fn write(&self, batch: &Batch) -> Written {
        let mut spoiled = batch.clone();
        if let Some(defect) = self.shared.defect
            && let Some(first) = defect.spoil(&mut spoiled, |id| self.shared.stored(id))
        {
            drop(self.shared.memory.apply(first).now_or_never());
            // Between the two, the process can end.
            if self.shared.fate(&self.process).end == End::CrashesAfter {
                self.shared.crash(&self.process, "between two writes");
                return Err(Unavailable::busy());
            }
        }
        let answer = self.shared.memory.apply(spoiled).now_or_never();
        let answer = answer.unwrap_or_else(|| Err(Unavailable::stopped()));
        if let Ok(answer) = &answer {
            let new = self.shared.ledger().note(&self.process, batch, answer);
            for (id, _) in &batch.events {
                if let Some(message) = self.shared.forgotten(*id) {
                    self.shared.ledger().forgot(*id, &message);
                }
            }
            for number in new {
                mail::write_to(&self.shared, number);
            }
        }
        answer
    }

    /// Does what the fate says. `None` if no answer arrives, because the process has ended.
    async fn meet(&self, fate: Fate, batch: Batch) -> Option<Written> {
        let (shared, process) = (&self.shared, &self.process);
        let lost = || Some(Err(Unavailable::indeterminate("the answer was lost")));
        if fate.end == End::CrashesInFlight {
            process.writes(true);
            shared.crash(process, "with a write in flight");
            sleep(fate.before).await;
            drop(self.write(&batch));
            process.writes(false);
            return None;
        }
        sleep(fate.before).await;
        process.thawed().await;
        if process.is_dead() {
            return None;
        }
        let answer = match fate.end {
            End::IsBusy => return Some(Err(Unavailable::busy())),
            End::LosesCall => return lost(),
            End::CrashesBefore => {
                shared.crash(process, "before a write");
                return None;
            }
            _ => self.write(&batch),
        };
        if fate.end == End::CrashesAfter {
            shared.crash(process, "after a write");
            return None;
        }
        sleep(fate.after).await;
        process.thawed().await;
        if fate.end == End::LosesAnswer { lost() } else { Some(answer) }
    }

    /// An answer of the store, some time after it was read.
    fn read<T: Send + 'static>(&self, answer: Answer<T>) -> Answer<T> {
        if is_over() {
            return Box::pin(async { Err(Unavailable::stopped()) });
        }
        let (time, fails) = self.shared.fate_of_read();
        let process = Arc::clone(&self.process);
        Box::pin(async move {
            sleep(time).await;
            process.thawed().await;
            if process.is_dead() {
                return pending().await;
            }
            if fails { Err(Unavailable::busy()) } else { answer.await }
        })
    }
}

/// The schedule has ended: what is left of it is dropped, and its late answers have a separate thread.
fn is_over() -> bool {
    tokio::runtime::Handle::try_current().is_err()
}

async fn sleep(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Backend for Faulty {
    fn identity(&self) -> Identity {
        self.shared.memory.identity()
    }

    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>> {
        if self.process.is_dead() {
            return Box::pin(pending());
        }
        let fate = self.shared.fate(&self.process);
        if let Some(time) = fate.freezes {
            self.shared.ledger().count("freezes");
            self.process.freeze(time);
        }
        if is_over() {
            return Box::pin(async { Err(Unavailable::stopped()) });
        }
        let (answer, result) = oneshot::channel();
        let this = self.clone();
        // The write happens even if its caller stopped waiting for it.
        tokio::spawn(async move {
            if let Some(written) = this.meet(fate, batch).await {
                let _ = answer.send(written);
            }
        });
        let process = Arc::clone(&self.process);
        Box::pin(async move {
            match result.await {
                Ok(written) if !process.is_dead() => written,
                _ => pending().await,
            }
        })
    }

    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>> {
        self.read(self.shared.memory.rows(ids))
    }

    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>> {
        self.read(self.shared.memory.select(filter))
    }

    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>> {
        self.read(self.shared.memory.sessions(after, limit))
    }

    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>> {
        self.read(self.shared.memory.history(id, from, limit))
    }

    fn transitions(&self, of: Selected) -> Answer<Transitions> {
        self.read(self.shared.memory.transitions(of))
    }

    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>> {
        self.read(self.shared.memory.entries(after, limit))
    }

    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>> {
        self.read(self.shared.memory.attempts(which))
    }

    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>> {
        self.read(self.shared.memory.agenda(kinds, limit, ended))
    }

    fn driven(&self) -> Answer<Vec<String>> {
        self.read(self.shared.memory.driven())
    }

    fn workers(&self) -> Answer<Vec<Registered>> {
        self.read(self.shared.memory.workers())
    }

    fn holders(&self) -> Answer<Vec<String>> {
        self.read(self.shared.memory.holders())
    }

    fn task(&self, id: Id) -> Answer<Task> {
        let mut task = self.shared.memory.task(id).now_or_never();
        if let (Some(Ok(task)), Some(defect)) = (&mut task, self.shared.defect) {
            let is_holder = self.shared.ledger().is_holder(&self.process, id);
            defect.spoil_task(task, is_holder);
        }
        let task = task.unwrap_or_else(|| Err(Unavailable::stopped()));
        self.read(Box::pin(ready(task)))
    }

    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>> {
        self.read(self.shared.memory.messages(which))
    }

    fn failing(&self) -> Answer<Vec<(Id, Work)>> {
        self.read(self.shared.memory.failing())
    }

    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>> {
        self.read(self.shared.memory.children(parent))
    }

    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>> {
        self.read(self.shared.memory.parent(child))
    }

    fn definitions(&self) -> Answer<Definitions> {
        self.shared.memory.definitions()
    }

    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>> {
        self.read(self.shared.memory.links(after, limit))
    }

    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>> {
        self.read(self.shared.memory.prunable(candidates))
    }

    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>> {
        self.read(self.shared.memory.prunings())
    }

    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>> {
        self.read(self.shared.memory.operations(before, limit))
    }

    fn offset(&self, consumer: String) -> Answer<Option<Offset>> {
        self.read(self.shared.memory.offset(consumer))
    }

    fn newest(&self) -> Answer<u64> {
        self.read(self.shared.memory.newest())
    }

    fn on_commit(&self, doorbell: Doorbell) {
        let (process, shared) = (Arc::clone(&self.process), Arc::downgrade(&self.shared));
        self.shared.memory.on_commit(Arc::new(move || {
            if let Some(shared) = shared.upgrade()
                && !process.is_dead()
                && !shared.loses_ring()
            {
                doorbell();
            }
        }));
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        if self.process.is_dead() {
            return;
        }
        self.shared.memory.run(work);
    }

    fn close(&self) -> Answer<()> {
        self.shared.memory.close()
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").field("process", &self.process.number).finish_non_exhaustive()
    }
}
