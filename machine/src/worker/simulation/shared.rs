use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{Instant, sleep_until};

use super::{
    backend::Faulty,
    defects::Defect,
    ledger::Ledger,
    machines::{leg, trip},
    payments::{Bank, Ending},
    process::Process,
    time::VirtualClock,
    tours::tour,
};
use crate::{
    clock::Clock,
    id::Id,
    store::{
        Cause, OpenOptions, Store,
        backend::{Backend, FoundRow, Row, WorkRows},
        conformance::random::Random,
        inbox::{message::Queued, outcome::outcome_of, protocol::Schedule},
        lock::lock,
        memory::Memory,
    },
};

/// The state that all processes of a schedule share: the data, the faults, and the ledger.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) memory: Arc<dyn Backend>,
    pub(super) defect: Option<Defect>,
    pub(super) bank: Bank,
    /// The lock files of the processes.
    folder: TempDir,
    clock: VirtualClock,
    random: Mutex<Random>,
    ledger: Mutex<Ledger>,
    /// No more faults.
    calm: AtomicBool,
    processes: AtomicUsize,
    /// All workers that were started since they last stopped together.
    workers: Mutex<Vec<Arc<Process>>>,
    /// Until when no worker is started.
    dark_until: Mutex<Instant>,
    /// Letters and creations that are not finished.
    pub(super) open: AtomicUsize,
}

/// How often a clock went back.
pub(super) const WENT_BACK: &str = "clocks that went back";

/// The end of a call to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is written, and the answer arrives.
    Answers,
    /// It is written, and the answer does not arrive.
    LosesAnswer,
    /// It is not written, and the caller cannot know.
    LosesCall,
    /// The store is busy; nothing is written.
    IsBusy,
    CrashesBefore,
    /// The process ends, and the write lands later.
    CrashesInFlight,
    CrashesAfter,
}

/// The faults that affect a call to the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fate {
    pub(super) before: Duration,
    pub(super) after: Duration,
    /// The whole process freezes when the call begins.
    pub(super) freezes: Option<Duration>,
    pub(super) end: End,
}

impl Shared {
    pub(super) fn new(seed: u64, defect: Option<Defect>, is_traced: bool) -> Arc<Self> {
        Arc::new(Self {
            memory: Arc::new(Memory::new(OpenOptions::new().settings())),
            defect,
            bank: Bank::default(),
            folder: tempfile::tempdir().expect("the system has a folder for temporary files"),
            clock: VirtualClock::start(),
            random: Mutex::new(Random::new(seed)),
            ledger: Mutex::new(Ledger::new(is_traced)),
            calm: AtomicBool::new(false),
            processes: AtomicUsize::new(0),
            workers: Mutex::default(),
            dark_until: Mutex::new(Instant::now()),
            open: AtomicUsize::new(0),
        })
    }

    pub(super) fn random(&self) -> MutexGuard<'_, Random> {
        lock(&self.random)
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// The clock of all processes goes back.
    pub(super) fn turn_back(&self, by: Duration) {
        self.ledger().count(WENT_BACK);
        self.clock.go_back(by);
    }

    pub(super) fn calm(&self) {
        self.calm.store(true, Ordering::Release);
    }

    pub(super) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Acquire)
    }

    /// A new process with its own store handle.
    pub(super) fn process(self: &Arc<Self>, is_worker: bool) -> (Arc<Process>, Store) {
        let number = self.processes.fetch_add(1, Ordering::AcqRel) + 1;
        let process = Arc::new(Process::new(number, is_worker));
        let backend = Faulty { shared: Arc::clone(self), process: Arc::clone(&process) };
        let place = self.folder.path().join("data");
        let options = OpenOptions::new().clock(self.clock.clone());
        let store = options.store(Arc::new(backend), Some(place), false);
        let proof = Arc::clone(&store.inner.worker);
        process.on_end(move || proof.release());
        if is_worker {
            lock(&self.workers).push(Arc::clone(&process));
        }
        (process, store)
    }

    /// All workers end, and none is started for this time.
    pub(super) fn stop_all(&self, time: Duration) {
        self.ledger().count("times without a worker");
        *lock(&self.dark_until) = Instant::now() + time;
        let workers = std::mem::take(&mut *lock(&self.workers));
        for worker in workers {
            self.crash(&worker, "with all others");
        }
    }

    /// Waits until workers may run.
    pub(super) async fn light(&self) {
        let until = *lock(&self.dark_until);
        sleep_until(until).await;
    }

    /// The data without faults.
    pub(super) fn plain(&self) -> Store {
        let options = OpenOptions::new().clock(self.clock.clone());
        options.store(Arc::clone(&self.memory), None, false)
    }

    pub(super) fn crash(&self, process: &Process, when: &'static str) {
        if !process.is_dead() {
            let mut ledger = self.ledger();
            ledger.count("crashes");
            ledger.trace(process, || format!("crashes {when}"));
            drop(ledger);
            process.die();
        }
    }

    /// Draws what happens to a write.
    pub(super) fn fate(&self, process: &Process) -> Fate {
        let mut random = self.random();
        let mut fate = Fate {
            before: Duration::ZERO,
            after: Duration::ZERO,
            freezes: None,
            end: End::Answers,
        };
        if random.permille(500) {
            (fate.before, fate.after) = (random.millis(0..12), random.millis(0..12));
        }
        if self.is_calm() {
            return fate;
        }
        match random.below(1000) {
            0..60 => fate.before += random.millis(100..2000),
            60..100 => fate.after += random.millis(100..2000),
            100..125 if process.is_worker => fate.freezes = Some(random.millis(200..2500)),
            125..150 => fate.end = End::LosesAnswer,
            150..165 => fate.end = End::LosesCall,
            165..180 => fate.end = End::IsBusy,
            180..195 if process.is_worker => fate.end = End::CrashesBefore,
            195..210 if process.is_worker => {
                fate.end = End::CrashesInFlight;
                fate.before += random.millis(0..1500);
            }
            210..230 if process.is_worker => fate.end = End::CrashesAfter,
            _ => {}
        }
        fate
    }

    /// Draws what happens to a read: how long it takes, and whether it fails.
    pub(super) fn fate_of_read(&self) -> (Duration, bool) {
        let mut random = self.random();
        if self.is_calm() {
            return (Duration::ZERO, false);
        }
        let time = match random.below(1000) {
            0..100 => random.millis(1..10),
            100..115 => random.millis(100..1500),
            _ => Duration::ZERO,
        };
        (time, random.permille(10))
    }

    /// Draws what a handler does: its time, whether it dies, and whether it fails.
    pub(super) fn work(&self) -> (Duration, bool, bool) {
        let mut random = self.random();
        let time = match random.below(100) {
            0..40 => Duration::ZERO,
            40..90 => random.millis(1..40),
            _ => random.millis(200..1500),
        };
        let is_calm = self.is_calm();
        (time, random.permille(30) && !is_calm, random.permille(150) && !is_calm)
    }

    /// Draws how a payment ends for its worker, how long its client takes, and whether that has a
    /// guard.
    pub(super) fn payment(&self) -> (Ending, Duration, bool) {
        let mut random = self.random();
        let ending = match random.below(100) {
            0..20 => Ending::Elapses,
            20..30 => Ending::Panics,
            30..40 => Ending::SaysSo,
            40..50 => Ending::Hangs,
            50..60 if !self.is_calm() => Ending::Refuses,
            _ => Ending::Returns,
        };
        (ending, random.millis(1..2500), random.permille(300))
    }

    /// Draws whether a handler that waits wants to be called again.
    pub(super) fn look_again(&self) -> Option<Duration> {
        let mut random = self.random();
        random.permille(250).then(|| random.millis(50..500))
    }

    /// Draws whether a ring is lost.
    pub(super) fn loses_ring(&self) -> bool {
        self.random().permille(300)
    }

    /// The work of a machine, as it is stored.
    pub(super) fn stored(&self, id: Id) -> Option<Schedule> {
        self.memory.task(id).now_or_never()?.ok()?.1
    }

    /// A process has read these rows of a machine.
    pub(super) fn note_read(&self, process: &Process, (found, work, _): &WorkRows) {
        let FoundRow::Row(row, _) = found else { return };
        let now = self.clock.now();
        let may_wait = |work: &Schedule| work.deadline.set_aside || work.rests(now);
        let is_due = row.due_at.is_some_and(|at| at <= now);
        if !is_due || work.as_ref().is_none_or(may_wait) {
            self.ledger().read_free(process, row.id);
        }
    }

    /// A message that the state of a machine takes, although no worker will wake for the machine.
    pub(super) fn forgotten(&self, id: Id) -> Option<String> {
        let (found, work, messages) = self.memory.task(id).now_or_never()?.ok()?;
        let work = work.filter(|work| work.lease.is_none() && work.others_at.is_none())?;
        let FoundRow::Row(row, _) = found else { return None };
        if work.rests(self.clock.now())
            && let Some(outcome) = self.outcome(&row, &messages)
        {
            return Some(outcome);
        }
        if work.wake.is_some() {
            return None;
        }
        let definition = [&trip::DEFINITION, &leg::DEFINITION, &tour::DEFINITION];
        let definition = definition.into_iter().find(|it| row.machine == it.name)?;
        let state = definition.state(&row.status)?;
        let takes =
            |trigger: &String| definition.moves(state).any(|legal| legal.trigger() == *trigger);
        let taken = messages.into_iter().find(|it| it.trigger.as_ref().is_some_and(takes));
        taken.map(|message| message.correlation)
    }

    /// An outcome of a call of the current state among these messages, at which no attempt has
    /// failed.
    fn outcome(&self, row: &Row, messages: &[Queued]) -> Option<String> {
        let summary: Value = serde_json::from_str(&row.summary).ok()?;
        let since = summary["entered"].as_u64().unwrap_or_default() + 1;
        let calls = self.memory.calls(row.id, since).now_or_never()?.ok()?;
        let mut outcomes = calls.into_iter().flatten().map(|call| outcome_of(call.id));
        // Another state may have left it in the inbox.
        let is_untried =
            |it: &Queued| it.fault.as_ref().is_none_or(|it| it.cause == Cause::NotTaken);
        outcomes.find(|it| messages.iter().any(|one| one.correlation == *it && is_untried(one)))
    }
}
