//! The time before it can be known that a call in doubt did not take effect.

use crate::{
    clock::Millis,
    contract::{Execution, InDoubt, Progress, execution::Waiting},
    effects::error::{EffectError, StateError},
    process::Liveness,
    store::handle::Store,
    typed::Refused,
};

/// Why it cannot be known yet that a call in doubt did not take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unproven {
    /// It may be running, or was cut off in a process that is.
    Running,
    /// Whether its worker has ended is unknown.
    Unknown,
    Settling(Millis),
}

impl Unproven {
    fn of(liveness: Liveness, settles_at: Millis, known_at: Millis) -> Option<Self> {
        match liveness {
            Liveness::Ended => (known_at < settles_at).then_some(Self::Settling(settles_at)),
            Liveness::Alive | Liveness::CutOff => Some(Self::Running),
            Liveness::Unknown => Some(Self::Unknown),
        }
    }
}

impl Store {
    /// Checks that "it did not take effect" could be known at this time: the worker had ended, and
    /// the call had settled.
    pub(crate) async fn may_be_freed(
        &self,
        doubt: InDoubt,
        known_at: Millis,
    ) -> Result<InDoubt, Refused<InDoubt, EffectError>> {
        let id = doubt.id();
        if doubt.progress().applied || doubt.progress().is_refused() {
            return Ok(doubt);
        }
        if let Err(error) = self.write_answers(id).await {
            return Err(Refused::new(doubt, error));
        }
        let ended_at = doubt.progress().ended_at.unwrap_or(known_at);
        let (doubt, liveness) = self.observe(doubt).await?;
        // If the end was observed just now, the call had not settled before.
        let settling_time = doubt.context().settling_time();
        let settles_at = doubt.progress().settled_at(ended_at, settling_time);
        let Some(unproven) = Unproven::of(liveness, settles_at, known_at) else {
            return Ok(doubt);
        };
        let progress = doubt.progress();
        let process = progress.process().cloned();
        let reason = match unproven {
            // Another process sees only that the process is alive, and what that one has recorded.
            Unproven::Running if progress.worker() == Liveness::CutOff => {
                EffectError::CutOff { id, process }
            }
            Unproven::Running => EffectError::WorkerAlive { id, process },
            Unproven::Unknown => EffectError::WorkerUnknown { id },
            Unproven::Settling(until) => {
                let left_ms = until.saturating_sub(self.now()).max(0).unsigned_abs();
                EffectError::NotSettled { id, left_ms }
            }
        };
        Err(Refused::new(doubt, reason))
    }

    /// Why "it did not take effect" would be refused now, as far as reading tells. It is not known
    /// when a call settles whose end is not recorded yet: then the answer is `None`, because a
    /// refused confirmation records the end.
    pub(crate) async fn unproven(
        &self,
        doubt: &Execution<Waiting>,
    ) -> Result<Option<Unproven>, StateError> {
        let progress = Progress::of(doubt);
        if progress.applied || progress.is_refused() {
            return Ok(None);
        }
        let now = self.now();
        let Some(ended_at) = progress.ended_at else {
            let liveness = self.liveness(doubt).await?;
            return Ok(Unproven::of(liveness, now, now));
        };
        let settles_at = progress.settled_at(ended_at, doubt.context().settling_time());
        Ok(Unproven::of(Liveness::Ended, settles_at, now))
    }
}
