//! Calls in flight: when a call has ended, as its own process knows it.

use std::{
    any::Any,
    fmt,
    fs::File,
    io,
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    Answer, Callable, Evidence, Liveness,
    outcome::{Answered, Returned},
    permit::Lender,
};
use crate::id::Id;

/// A guard for a part of a call that runs apart from its future: a blocking task, a thread, a spawned
/// task. The call has not ended while a guard is alive.
///
/// [`Call::in_flight`](super::Call::in_flight) makes one. Move it, or a clone, into what does the work,
/// and drop it when that is done. The answer can come through it, too: it counts if the
/// future was dropped in the meantime, or its caller has stopped waiting.
///
/// A guard keeps the store open.
///
/// ```
/// use machine::contract::{Answer, Applied, Call, Irreversible, NotDone, Perform, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Clone, Serialize, Deserialize)]
/// struct Pay {
///     cents: u64,
/// }
///
/// impl Tool for Pay {
///     const SERVICE: &'static str = "bank";
///     const METHOD: &'static str = "pay";
///     type Effect = Irreversible;
///     type Receipt = String;
/// }
///
/// #[derive(Clone)]
/// struct Bank;
///
/// impl Bank {
///     /// A client that blocks.
///     fn pay(&self, _: &Pay) -> Answer {
///         Ok(Applied::new("transfer 17"))
///     }
/// }
///
/// impl Perform<Pay> for Bank {
///     async fn perform(&self, call: &Call<Pay>) -> Answer {
///         let (bank, pay, in_flight) = (self.clone(), call.arguments().clone(), call.in_flight());
///         let paid = tokio::task::spawn_blocking(move || {
///             let answer = bank.pay(&pay);
///             // Also if the future is gone.
///             in_flight.answer(answer.clone());
///             answer
///         });
///         paid.await?
///     }
/// }
/// ```
pub struct InFlight<T> {
    call: Arc<Shared>,
    /// Keeps the store open.
    open: Option<Owner>,
    tool: PhantomData<fn(T)>,
}

impl<T: Callable> InFlight<T> {
    pub(super) fn new(handle: &CallHandle) -> Self {
        let call = Arc::clone(&handle.0);
        call.record.state().guards += 1;
        Self { open: call.lender.open(), call, tool: PhantomData }
    }

    /// Answers in place of the future. If the future is gone, or no longer awaited, the
    /// answer is written to the store as late evidence. A receipt counts at once. "Not applied" counts
    /// when the call has ended, that is not before the last guard is gone, and if every part of it knows its outcome:
    /// not if its future was dropped, or a part of it panicked or does not know.
    pub fn answer(self, answer: Answer<T::Receipt>) {
        // Only the whole call can be accepted, so from a part of it that is unknown.
        let Answered { evidence, still_running, .. } = Answered::of(Ok(answer));
        let mut state = self.call.record.state();
        state.still_running = state.still_running.max(still_running);
        state.is_unsure |= matches!(evidence, Evidence::Unknown(_));
        state.answered(evidence);
        drop(state);
        // Dropping it writes what counts now.
    }
}

impl<T> InFlight<T> {
    /// Another handle of the lock that shows other processes that this one is alive. A child process
    /// that inherits it, for example as its standard input, counts as a part of this one, so that the call
    /// has not ended before the child has. Neither lock nor unlock it: that is the lock of the whole
    /// process. `None` if the store is in memory.
    ///
    /// ```no_run
    /// # use machine::contract::{Action, InFlight};
    /// # fn example(in_flight: InFlight<Action>) -> std::io::Result<()> {
    /// let mut transfer = std::process::Command::new("transfer");
    /// if let Some(lock) = in_flight.lock()? {
    ///     transfer.stdin(lock);
    /// }
    /// let ended = transfer.status()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the system, if the process has too many open files.
    pub fn lock(&self) -> io::Result<Option<File>> {
        self.call.lender.lock()
    }
}

impl<T> Clone for InFlight<T> {
    fn clone(&self) -> Self {
        self.call.record.state().guards += 1;
        Self { call: Arc::clone(&self.call), open: self.open.clone(), tool: PhantomData }
    }
}

impl<T> Drop for InFlight<T> {
    fn drop(&mut self) {
        let mut state = self.call.record.state();
        state.guards -= 1;
        state.is_unsure |= std::thread::panicking();
        drop(state);
        self.call.keep_due();
    }
}

impl<T> fmt::Debug for InFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("InFlight");
        debug.field("execution_id", &self.call.execution_id).finish_non_exhaustive()
    }
}

/// Kept alive: the worker of a store, which has the lock of the process, or the store.
pub(crate) type Owner = Arc<dyn Any + Send + Sync>;

/// The state of one call, shared by its permit, its future, its guards, and the store that answers
/// other callers.
#[derive(Debug)]
pub(crate) struct CallRecord {
    irreversible: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// The service promises that nothing runs without its future and its guards.
    confined: bool,
    /// Permits, futures, outcomes that are not on disk.
    handles: usize,
    guards: usize,
    /// Some part of the call has said that something is still running, or was given up on.
    still_running: Option<StillRunning>,
    /// Some part does not know what came of it.
    is_unsure: bool,
    /// The best answer so far.
    answer: Option<Evidence>,
    written: Written,
    /// The store no longer needs to know whether the call has ended.
    is_proven: bool,
}

/// Progress of writing the best answer to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    No,
    /// In the background.
    Soon,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The service has not been polled.
    NotStarted,
    Running,
    /// Running after its caller has stopped waiting.
    Late,
    Returned,
    /// Dropped before it answered.
    CutOff,
}

impl CallRecord {
    pub(crate) fn new(irreversible: bool) -> Self {
        let state = State {
            phase: Phase::NotStarted,
            confined: false,
            handles: 0,
            guards: 0,
            still_running: None,
            is_unsure: false,
            answer: None,
            written: Written::No,
            is_proven: false,
        };
        Self { irreversible, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Poisoning is harmless: nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The liveness of the call, for its own process.
    pub(crate) fn liveness(&self) -> Liveness {
        let state = self.state();
        // A receipt that is not on disk must not be overtaken by an opinion.
        let has_receipt = matches!(state.answer, Some(Evidence::Applied(_)));
        if state.handles > 0 || self.irreversible && has_receipt && state.written != Written::Yes {
            return Liveness::Alive;
        }
        state.liveness(self.irreversible)
    }

    /// The liveness of the call apart from the outcome in hand.
    pub(crate) fn liveness_after_answer(&self) -> Liveness {
        self.state().liveness(self.irreversible)
    }

    /// This evidence is on disk, with this liveness of the call.
    pub(crate) fn written(&self, evidence: &Evidence, liveness: Liveness) {
        let mut state = self.state();
        if state.answer.as_ref() == Some(evidence) {
            state.written = Written::Yes;
        }
        let is_unknown = matches!(evidence, Evidence::Unknown(_));
        state.is_proven |= !is_unknown || liveness == Liveness::Ended;
    }

    /// The store does not depend on the end of this call any more, or never did.
    pub(crate) fn prove(&self) {
        self.state().is_proven = true;
    }

    /// Returns `true` if the store depends on the lock of the process to know how this call ends.
    pub(crate) fn needs_proof(&self) -> bool {
        !self.state().is_proven
    }

    /// An answer that counts and is not on disk, as far as this process knows.
    pub(crate) fn unwritten(&self) -> Option<Evidence> {
        let state = self.state();
        // An idempotent call is called again.
        let answer = state.due().filter(|_| self.irreversible && state.written != Written::Yes);
        answer.cloned()
    }

    /// The unwritten answer, if nothing else is about to write it. The caller writes it.
    fn to_write(&self) -> Option<Evidence> {
        let mut state = self.state();
        let is_new = self.irreversible && state.written == Written::No;
        let answer = state.due().filter(|_| is_new).cloned();
        if answer.is_some() {
            state.written = Written::Soon;
        }
        answer
    }

    /// Nothing writes the answer any more.
    pub(crate) fn not_written(&self) {
        let mut state = self.state();
        if state.written == Written::Soon {
            state.written = Written::No;
        }
    }
}

impl State {
    fn liveness(&self, irreversible: bool) -> Liveness {
        match self.phase {
            Phase::Running | Phase::Late => Liveness::Alive,
            // It can be called again, so nothing depends on what is left of it.
            Phase::Returned | Phase::CutOff if !irreversible => Liveness::Ended,
            Phase::Returned | Phase::CutOff if self.is_cut_off() => Liveness::CutOff,
            Phase::Returned | Phase::CutOff if self.guards > 0 => Liveness::Alive,
            Phase::NotStarted | Phase::Returned | Phase::CutOff => Liveness::Ended,
        }
    }

    /// Keeps an answer. A receipt outranks a refusal, and either outranks ignorance.
    fn answered(&mut self, evidence: Evidence) {
        let outranks = match (&self.answer, &evidence) {
            (Some(Evidence::Applied(_)), _) | (_, Evidence::Unknown(_)) => false,
            (_, Evidence::Applied(_)) => true,
            (known, Evidence::NotApplied(_)) => known.is_none(),
        };
        if outranks {
            self.answer = Some(evidence);
            self.written = Written::No;
        }
    }

    /// Returns `true` if something that goes unreported may be running, once the future is gone.
    fn is_cut_off(&self) -> bool {
        match self.still_running {
            Some(StillRunning::Declared) => true,
            Some(StillRunning::Presumed) => !self.confined,
            None => self.phase == Phase::CutOff && !self.confined,
        }
    }

    /// Returns `true` if a refusal of one part of the call speaks for the whole of it. A future that was dropped or
    /// panicked says nothing about its part.
    fn is_refused(&self) -> bool {
        self.phase == Phase::Returned && !self.is_unsure && self.liveness(true) == Liveness::Ended
    }

    /// The answer that counts now, and that neither the future nor an outcome in hand will give.
    fn due(&self) -> Option<&Evidence> {
        let is_left = match self.phase {
            Phase::NotStarted | Phase::Running => true,
            Phase::Late => false,
            Phase::Returned | Phase::CutOff => self.handles > 0,
        };
        self.answer.as_ref().filter(|answer| match answer {
            _ if is_left => false,
            Evidence::Applied(_) => true,
            Evidence::NotApplied(_) => self.is_refused(),
            Evidence::Unknown(_) => false,
        })
    }
}

/// One call under one permit, for its handles and its guards.
struct Shared {
    record: Arc<CallRecord>,
    lender: Arc<dyn Lender>,
    execution_id: Id,
    epoch: u64,
    _worker: Owner,
}

impl Shared {
    /// Writes the answer that nothing else in this process will write.
    fn keep_due(&self) {
        if let Some(evidence) = self.record.to_write() {
            self.lender.keep(self.execution_id, self.epoch, evidence, &self.record);
        }
    }
}

/// A permit, a future or an outcome of a call. As long as there is one, the call is alive, and so is the
/// lock file.
pub(crate) struct CallHandle(Arc<Shared>);

impl CallHandle {
    pub(crate) fn new(
        record: Arc<CallRecord>,
        lender: Arc<dyn Lender>,
        execution_id: Id,
        epoch: u64,
        worker: Owner,
    ) -> Self {
        record.state().handles += 1;
        Self(Arc::new(Shared { record, lender, execution_id, epoch, _worker: worker }))
    }

    pub(crate) fn record(&self) -> &CallRecord {
        &self.0.record
    }

    /// The caller has stopped waiting, and the store knows; the future is still running.
    pub(crate) fn is_late(&self) {
        let mut state = self.0.record.state();
        if state.phase == Phase::Running {
            state.phase = Phase::Late;
        }
        drop(state);
        self.0.keep_due();
    }

    pub(super) fn lender(&self) -> &dyn Lender {
        &*self.0.lender
    }

    pub(crate) fn execution_id(&self) -> Id {
        self.0.execution_id
    }

    /// Keeps the store open.
    pub(super) fn open(&self) -> Option<Owner> {
        self.0.lender.open()
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.0.epoch
    }
}

impl Clone for CallHandle {
    fn clone(&self) -> Self {
        self.0.record.state().handles += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        self.0.record.state().handles -= 1;
        self.0.keep_due();
    }
}

impl fmt::Debug for CallHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallHandle").field(&self.0.record).finish()
    }
}

/// The future of a call, from the moment before the service is polled. Dropping it before the service
/// has answered cuts the call off.
pub(super) struct Started {
    handle: CallHandle,
    /// Keeps the store open.
    _open: Option<Owner>,
}

impl Started {
    pub(super) fn new(handle: CallHandle, confined: bool) -> Self {
        let mut state = handle.0.record.state();
        (state.phase, state.confined) = (Phase::Running, confined);
        drop(state);
        let open = handle.0.lender.open();
        Self { handle, _open: open }
    }

    /// The service has answered. Returns the best evidence that there is.
    pub(super) fn returned(self, answered: Answered) -> Returned {
        let Answered { evidence, still_running, accepted } = answered;
        let record = &self.handle.0.record;
        let mut state = record.state();
        state.phase = Phase::Returned;
        if !record.irreversible {
            // It may have been called before under the same permit: the last answer counts.
            return evidence.into();
        }
        state.still_running = state.still_running.max(still_running);
        state.is_unsure |= matches!(evidence, Evidence::Unknown(_)) && accepted.is_none();
        state.answered(evidence.clone());
        let rest = if state.guards > 0 {
            "a part of the call is still running, although the service answered"
        } else {
            "a part of the call does not know what came of it, although another answered"
        };
        match (&state.answer, accepted) {
            (Some(Evidence::NotApplied(reason)), accepted)
                if accepted.is_some() || !state.is_refused() =>
            {
                Evidence::Unknown(format!("{rest}: {reason}")).into()
            }
            (Some(best), _) => best.clone().into(),
            // Like a refusal, it is the word of the whole call.
            (None, Some(accepted)) if state.is_refused() => {
                Returned { evidence, accepted: Some(accepted) }
            }
            (None, Some(accepted)) => Evidence::Unknown(format!("{rest}: {accepted}")).into(),
            (None, None) => evidence.into(),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let mut state = self.handle.0.record.state();
        if matches!(state.phase, Phase::Running | Phase::Late) {
            state.phase = Phase::CutOff;
        }
    }
}

/// Why a call that has answered may still be running; the stronger reason last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StillRunning {
    /// It panicked, or its error is that of a task that failed or of a wait that was given up.
    Presumed,
    /// The service says so.
    Declared,
}
