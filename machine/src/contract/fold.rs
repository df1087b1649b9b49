//! The effect of an entry of the journal on the progress of an execution.

use super::{
    CallFact, Decision, Evidence, Liveness, Progress,
    execution::Status,
    progress::{AcceptedRecord, LONGEST, PermitRecord, SettledAs},
};
use crate::{
    actor::{Actor, Human},
    journal::{Entry, Fact},
};

impl Progress {
    /// Adds an entry, with its fact about the call.
    pub(super) fn take(&mut self, entry: &Entry, call: Option<CallFact>) {
        // A machine with other states is not an execution, and is refused before it is written.
        let status = |name: &str| name.parse().unwrap_or_default();
        match &entry.fact {
            Fact::Created { state, .. } => self.status = status(state),
            Fact::Moved { to, .. } => {
                self.status = status(to);
                if self.status == Status::Waiting {
                    self.waited = true;
                    // It asks anew.
                    self.answered_by = None;
                }
            }
            Fact::Fenced { .. } | Fact::Recorded { .. } => {}
        }
        let Some(call) = call else { return };
        let by = || entry.by.as_deref().map(str::to_owned);
        match call {
            CallFact::Held { .. } => self.held = true,
            CallFact::Permitted {
                worker,
                process,
                epoch,
                expires_at,
                approved_by,
                callback,
                ..
            } => {
                self.permit = Some(PermitRecord { worker, process, epoch, expires_at, callback });
                self.verdict = None;
                if approved_by.is_some() {
                    self.approved_by = approved_by;
                }
            }
            CallFact::Accepted { reference, answer_by, .. } => {
                let reference = reference.chars().take(LONGEST).collect();
                self.accepted = Some(AcceptedRecord { reference, answer_by });
            }
            CallFact::Evidence { evidence, late: false, .. } => {
                self.applied |= matches!(evidence, Evidence::Applied(_));
                self.verdict = Some(match evidence {
                    Evidence::Applied(_) => SettledAs::Applied,
                    Evidence::NotApplied(_) => SettledAs::NotApplied,
                    Evidence::Unknown(_) => SettledAs::Unknown,
                });
            }
            CallFact::Evidence { evidence, late: true, .. } => match evidence {
                Evidence::Applied(receipt) => {
                    self.applied = true;
                    self.acknowledged_by = None;
                    self.receipt.get_or_insert_with(|| receipt.chars().take(LONGEST).collect());
                }
                Evidence::NotApplied(reason) => {
                    let reason = reason.message.chars().take(LONGEST);
                    self.refused.get_or_insert_with(|| reason.collect());
                }
                Evidence::Unknown(_) => {}
            },
            CallFact::Parked { worker: Liveness::Ended, at } | CallFact::WorkerEnded { at } => {
                self.ended_at.get_or_insert(at);
            }
            CallFact::Parked { worker: Liveness::CutOff, at } | CallFact::CutOff { at } => {
                self.cut_off_at.get_or_insert(at);
            }
            CallFact::Parked { worker, .. } => self.parked = Some(worker),
            CallFact::Confirmed { applied, overridden, .. } => {
                self.applied |= applied;
                self.verdict =
                    Some(if applied { SettledAs::Applied } else { SettledAs::NotApplied });
                if !applied && entry.actor.as_deref() == Some(Human::KIND) {
                    self.denied_by = by();
                } else if !applied {
                    self.not_found = true;
                }
                if overridden {
                    self.overridden_by = by();
                }
            }
            CallFact::Decided { approved, at, expires_at, .. } => {
                let by = by().unwrap_or_default();
                self.decision = Some(Decision { approved, by, at, expires_at });
            }
            CallFact::Answered { .. } => self.answered_by = Some(by().unwrap_or_default()),
            CallFact::Acknowledged { .. } => self.acknowledged_by = Some(by().unwrap_or_default()),
            CallFact::Closed { cause, .. } => self.closed = Some(cause),
        }
    }
}
