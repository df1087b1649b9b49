use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Evidence, Liveness, answer::StillRunning};

/// The state of one call, shared by its permit, its future, its guards, and the store that answers
/// other callers.
#[derive(Debug)]
pub(crate) struct CallRecord {
    pub(super) irreversible: bool,
    state: Mutex<CallState>,
}

#[derive(Debug)]
pub(super) struct CallState {
    pub(super) phase: Phase,
    /// The service promises that nothing runs without its future and its guards.
    pub(super) confined: bool,
    /// Permits, futures, outcomes that are not on disk.
    pub(super) handles: usize,
    pub(super) guards: usize,
    /// Some part of the call has said that something is still running, or was given up on.
    pub(super) still_running: Option<StillRunning>,
    /// Some part has an unknown outcome.
    pub(super) is_unsure: bool,
    pub(super) answer: Option<Evidence>,
    written: WriteProgress,
    /// The store no longer needs to know whether the call has ended.
    is_proven: bool,
}

/// Progress of writing the best answer to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteProgress {
    No,
    /// In the background.
    Soon,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The service has not been polled.
    NotStarted,
    Running,
    Late,
    Returned,
    /// Dropped before it answered.
    CutOff,
}

impl CallRecord {
    pub(crate) fn new(irreversible: bool) -> Self {
        let state = CallState {
            phase: Phase::NotStarted,
            confined: false,
            handles: 0,
            guards: 0,
            still_running: None,
            is_unsure: false,
            answer: None,
            written: WriteProgress::No,
            is_proven: false,
        };
        Self { irreversible, state: Mutex::new(state) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, CallState> {
        // Poisoning is harmless: nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn liveness(&self) -> Liveness {
        let state = self.state();
        // A receipt that is not on disk must not be overtaken by an opinion.
        let has_receipt = matches!(state.answer, Some(Evidence::Applied(_)));
        if state.handles > 0
            || self.irreversible && has_receipt && state.written != WriteProgress::Yes
        {
            return Liveness::Alive;
        }
        state.liveness(self.irreversible)
    }

    /// The liveness of the call apart from the outcome in hand.
    pub(crate) fn liveness_after_answer(&self) -> Liveness {
        self.state().liveness(self.irreversible)
    }

    /// This evidence is on disk, with this liveness of the call.
    pub(crate) fn mark_written(&self, evidence: &Evidence, liveness: Liveness) {
        let mut state = self.state();
        if state.answer.as_ref() == Some(evidence) {
            state.written = WriteProgress::Yes;
        }
        let is_unknown = matches!(evidence, Evidence::Unknown(_));
        state.is_proven |= !is_unknown || liveness == Liveness::Ended;
    }

    /// The store no longer depends on the end of this call, or never did.
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
        let answer =
            state.due().filter(|_| self.irreversible && state.written != WriteProgress::Yes);
        answer.cloned()
    }

    /// The unwritten answer, unless it is being written. The caller writes it.
    pub(super) fn to_write(&self) -> Option<Evidence> {
        let mut state = self.state();
        let is_new = self.irreversible && state.written == WriteProgress::No;
        let answer = state.due().filter(|_| is_new).cloned();
        if answer.is_some() {
            state.written = WriteProgress::Soon;
        }
        answer
    }

    pub(crate) fn not_written(&self) {
        let mut state = self.state();
        if state.written == WriteProgress::Soon {
            state.written = WriteProgress::No;
        }
    }
}

impl CallState {
    fn liveness(&self, irreversible: bool) -> Liveness {
        match self.phase {
            Phase::Running | Phase::Late => Liveness::Alive,
            // It can be called again, so its remains do not matter.
            Phase::Returned | Phase::CutOff if !irreversible => Liveness::Ended,
            Phase::Returned | Phase::CutOff if self.is_cut_off() => Liveness::CutOff,
            Phase::Returned | Phase::CutOff if self.guards > 0 => Liveness::Alive,
            Phase::NotStarted | Phase::Returned | Phase::CutOff => Liveness::Ended,
        }
    }

    /// Keeps an answer. A receipt outranks a refusal, and either outranks ignorance.
    pub(super) fn answered(&mut self, evidence: Evidence) {
        let outranks = match (&self.answer, &evidence) {
            (Some(Evidence::Applied(_)), _) | (_, Evidence::Unknown(_)) => false,
            (_, Evidence::Applied(_)) => true,
            (known, Evidence::NotApplied(_)) => known.is_none(),
        };
        if outranks {
            self.answer = Some(evidence);
            self.written = WriteProgress::No;
        }
    }

    /// Returns `true` if unreported work may be running after the future was dropped.
    fn is_cut_off(&self) -> bool {
        match self.still_running {
            Some(StillRunning::Declared) => true,
            Some(StillRunning::Presumed) => !self.confined,
            None => self.phase == Phase::CutOff && !self.confined,
        }
    }

    /// Returns `true` if a refusal of one part of the call speaks for the whole of it. A future
    /// that was dropped or panicked says nothing about its part.
    pub(super) fn is_refused(&self) -> bool {
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
