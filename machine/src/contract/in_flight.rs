//! Calls in flight: when a call has ended, as its own process knows it.

use std::{fmt, fs::File, io, marker::PhantomData, ops::Deref, sync::Arc};

use super::{
    Callable, Evidence, ToolAnswer,
    answer::Answered,
    call_record::{CallRecord, Phase},
    limits::MAX_RECEIPT,
    permit_check::{Owner, PermitCheck},
};
use crate::id::Id;

/// A guard for a part of a call that runs apart from its future: a blocking task, a thread, a
/// spawned task. The call has not ended while a guard is alive.
///
/// [`Call::in_flight`](super::Call::in_flight) makes one. Move the guard, or a clone, into the code
/// that does the work, and drop it when the work is done. The answer can also come through the
/// guard: it counts if the future was dropped in the meantime, or if its caller has stopped
/// waiting.
///
/// A guard keeps the store open. [`Perform`](super::Perform) has an example.
pub struct InFlight<T> {
    call: Arc<SharedCall>,
    /// Keeps the store open.
    open: Option<Owner>,
    tool: PhantomData<fn(T)>,
}

impl<T: Callable> InFlight<T> {
    pub(super) fn new(handle: &CallHandle) -> Self {
        let call = Arc::clone(&handle.0);
        call.record.state().guards += 1;
        Self { open: call.permit_check.open(), call, tool: PhantomData }
    }

    /// Answers in place of the future. If the future was dropped, or is no longer awaited, the
    /// store records the answer as late evidence. A receipt counts at once. "Not applied" counts
    /// once the last guard is dropped, so that the call has ended, and only if every part of the
    /// call knows its outcome: not if the future was dropped, or if a part panicked or has an
    /// unknown outcome.
    pub fn answer(self, answer: ToolAnswer<T>) {
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
    /// Another handle of the lock that shows other processes that this one is alive. If a child
    /// process inherits the handle, for example as its standard input, the call ends only after the
    /// child has ended. Do not lock or unlock it: the lock belongs to the whole process. `None` if
    /// the store is in memory.
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
        self.call.permit_check.lock()
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

/// One call under one permit, for its handles and its guards.
#[derive(Debug)]
pub(crate) struct SharedCall {
    pub(crate) record: Arc<CallRecord>,
    pub(super) permit_check: Arc<dyn PermitCheck>,
    pub(crate) execution_id: Id,
    pub(crate) epoch: u64,
    _worker: Owner,
}

impl SharedCall {
    /// Writes the answer that nothing else in this process will write.
    fn keep_due(&self) {
        if let Some(evidence) = self.record.to_write() {
            self.permit_check.keep(self.execution_id, self.epoch, evidence, &self.record);
        }
    }
}

/// A permit, a future or an outcome of a call. As long as there is one, the call is alive, and so
/// is the lock file.
#[derive(Debug)]
pub(crate) struct CallHandle(Arc<SharedCall>);

impl CallHandle {
    pub(crate) fn new(
        record: Arc<CallRecord>,
        permit_check: Arc<dyn PermitCheck>,
        execution_id: Id,
        epoch: u64,
        worker: Owner,
    ) -> Self {
        record.state().handles += 1;
        Self(Arc::new(SharedCall { record, permit_check, execution_id, epoch, _worker: worker }))
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
}

impl Deref for CallHandle {
    type Target = SharedCall;

    fn deref(&self) -> &SharedCall {
        &self.0
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

/// The future of a call, from the moment before the service is polled. Dropping it before the
/// service has answered cuts the call off.
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
        let open = handle.0.permit_check.open();
        Self { handle, _open: open }
    }

    /// The service has answered. Returns the best evidence that there is.
    pub(super) fn returned(self, answered: Answered) -> Answered {
        let Answered { evidence, still_running, accepted } = answered;
        let record = &self.handle.0.record;
        let mut state = record.state();
        state.phase = Phase::Returned;
        if !record.irreversible {
            // It may have been called before under the same permit: the last answer counts.
            return match evidence {
                Evidence::Applied(receipt) if receipt.len() > MAX_RECEIPT => {
                    let why = format!(
                        "its receipt has more than {MAX_RECEIPT} bytes; return a reference to it"
                    );
                    Evidence::Unknown(why).into()
                }
                evidence => evidence.into(),
            };
        }
        state.still_running = state.still_running.max(still_running);
        state.is_unsure |= matches!(evidence, Evidence::Unknown(_)) && accepted.is_none();
        state.answered(evidence.clone());
        let rest = if state.guards > 0 {
            "part of the call is still running although the service has answered"
        } else {
            "part of the call has an unknown outcome although another part has answered"
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
                Answered { accepted: Some(accepted), ..evidence.into() }
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
