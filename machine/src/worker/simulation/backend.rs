use std::{
    fmt,
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use futures_channel::oneshot;
use futures_util::FutureExt;

use super::{
    defects::Defect,
    mail,
    process::Process,
    shared::{End, Fate, Shared},
};
use crate::{
    clock::Millis,
    id::Id,
    store::{
        Delivery, Unavailable,
        backend::{
            AppliedBatch, Backend, Broken, CallRow, DefinitionRows, Delegate, DoorbellFn,
            ReadyMachine, Rejected, Reply, WorkRows, WriteBatch,
        },
    },
};

/// The store as one process sees it: calls take their time, fail, lose their answers, and end the
/// process.
#[derive(Clone)]
pub(super) struct Faulty {
    pub(super) shared: Arc<Shared>,
    pub(super) process: Arc<Process>,
}

type Written = Result<Result<AppliedBatch, Rejected>, Unavailable>;

impl Faulty {
    /// Writes now.
    fn write(&self, batch: &WriteBatch) -> Written {
        let mut spoiled = batch.clone();
        if let Some(defect) = self.shared.defect
            && let Some(first) = defect.spoil(&mut spoiled, |id| self.shared.stored(id))
        {
            drop(pollster::block_on(self.shared.memory.apply(first)));
            // Between the two, the process can end.
            if self.shared.fate(&self.process).end == End::CrashesAfter {
                self.shared.crash(&self.process, "between two writes");
                return Err(Unavailable::Busy);
            }
        }
        let answer = pollster::block_on(self.shared.memory.apply(spoiled));
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
    async fn meet(&self, fate: Fate, batch: WriteBatch) -> Option<Written> {
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
            End::IsBusy => return Some(Err(Unavailable::Busy)),
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
    fn read<T: Send + 'static>(&self, answer: Reply<T>) -> Reply<T> {
        if is_over() {
            return Box::pin(async { Err(Unavailable::Stopped) });
        }
        let (time, fails) = self.shared.fate_of_read();
        let process = Arc::clone(&self.process);
        Box::pin(async move {
            sleep(time).await;
            process.thawed().await;
            if process.is_dead() {
                return pending().await;
            }
            if fails { Err(Unavailable::Busy) } else { answer.await }
        })
    }
}

/// The schedule has ended: what is left of it is dropped, and its late answers have a separate
/// thread.
fn is_over() -> bool {
    tokio::runtime::Handle::try_current().is_err()
}

async fn sleep(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Delegate for Faulty {
    fn inner(&self) -> &dyn Backend {
        &*self.shared.memory
    }

    /// Reads now, and answers some time later.
    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Backend) -> Reply<T> + Send + 'static,
    ) -> Reply<T> {
        self.read(call(&*self.shared.memory))
    }

    fn apply(&self, batch: WriteBatch) -> Reply<Result<AppliedBatch, Rejected>> {
        if self.process.is_dead() {
            return Box::pin(pending());
        }
        let fate = self.shared.fate(&self.process);
        if let Some(time) = fate.freezes {
            self.shared.ledger().count("freezes");
            self.process.freeze(time);
        }
        if is_over() {
            return Box::pin(async { Err(Unavailable::Stopped) });
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

    /// Machines that are due at one time come in the order in which they were created: the ids of
    /// calls have no order that is the same in each run.
    fn ready(
        &self,
        kinds: Vec<String>,
        limit: usize,
        now: Millis,
        ended: Vec<String>,
    ) -> Reply<Vec<ReadyMachine>> {
        let shared = Arc::clone(&self.shared);
        self.ask(move |inner| {
            let ready = inner.ready(kinds, limit, now, ended);
            Box::pin(async move {
                let mut ready = ready.await?;
                let have_one_time = |one: &ReadyMachine, other: &ReadyMachine| {
                    one.wake.at == other.wake.at || one.wake.set_at == other.wake.set_at
                };
                for of_one_time in ready.chunk_by_mut(have_one_time) {
                    of_one_time.sort_by_key(|it| (it.wake.at, shared.ledger().number(it.id)));
                }
                Ok::<_, Unavailable>(ready)
            })
        })
    }

    fn calls(&self, parent: Id, since: u64) -> Reply<Vec<Result<CallRow, Broken>>> {
        let is_spoiled = self.shared.defect == Some(Defect::TakesOldOutcome);
        self.ask(move |inner| {
            let of_entry = |since| inner.calls(parent, since).now_or_never()?.ok();
            let mut calls = inner.calls(parent, since);
            if is_spoiled && of_entry(since).is_some_and(|it| !it.is_empty()) {
                let mut old: Vec<_> = (1..since).filter_map(of_entry).flatten().collect();
                old.retain(|it| it.as_ref().is_ok_and(|it| it.outcome == Some(Delivery::Queued)));
                calls = Box::pin(async move {
                    old.extend(calls.await?);
                    Ok::<_, Unavailable>(old)
                });
            }
            calls
        })
    }

    fn same_call(&self, parent: Id, key: String) -> Reply<Vec<Result<CallRow, Broken>>> {
        if self.shared.defect == Some(Defect::NeverJoins) {
            return self.read(Box::pin(ready(Ok(Vec::new()))));
        }
        self.ask(move |inner| inner.same_call(parent, key))
    }

    fn task(&self, id: Id) -> Reply<WorkRows> {
        let mut task = self.shared.memory.task(id).now_or_never();
        if let Some(Ok(task)) = &task {
            self.shared.note_read(&self.process, task);
        }
        if let (Some(Ok(task)), Some(defect)) = (&mut task, self.shared.defect) {
            let is_holder = self.shared.ledger().is_holder(&self.process, id);
            defect.spoil_task(task, is_holder);
        }
        let task = task.unwrap_or(Err(Unavailable::Stopped));
        self.read(Box::pin(ready(task)))
    }

    fn definitions(&self) -> Reply<DefinitionRows> {
        self.shared.memory.definitions()
    }

    fn on_commit(&self, doorbell: DoorbellFn) {
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

    fn close(&self) -> Reply<()> {
        self.shared.memory.close()
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").field("process", &self.process.number).finish_non_exhaustive()
    }
}
