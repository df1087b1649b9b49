use serde::{Deserialize, Deserializer, Serialize};

use super::{CallFact, Closing, Decision, Liveness, Process, execution::Status};
use crate::{
    clock::Millis,
    journal::Digest,
    stored::{Durable, Hold, Permitted},
};

/// The progress of an execution, folded from its journal: what the rules of irreversible calls and
/// of gates, and the views, need to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
#[serde(default)]
pub struct Progress {
    pub(super) status: Status,
    /// It took its key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) permit: Option<PermitRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accepted: Option<AcceptedRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<SettledAs>,
    /// A receipt or a person says that the call took effect, even if the state says otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) applied: bool,
    /// The beginning of a receipt that arrived late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<String>,
    /// The worker itself or the service said, late, that the call did not take effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// When the worker was found to have ended, by the clock of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Millis>,
    /// The known liveness of the worker when the execution was put in doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parked: Option<Liveness>,
    /// When the call was found to be cut off, by the clock of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cut_off_at: Option<Millis>,
    /// The person who declared that it did not take effect, without proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overridden_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_decision")]
    pub(crate) decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answered_by: Option<String>,
    /// The person who acknowledged that a receipt contradicts its end. A receipt that arrives later
    /// needs another acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) acknowledged_by: Option<String>,
    /// The person who approved it: at its gate, or as a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<String>,
    /// The person who found that it did not take effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) denied_by: Option<String>,
    /// Its service was asked, and said that it did not take effect.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) not_found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closed: Option<Closing>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waited: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PermitRecord {
    pub(super) worker: String,
    pub(super) process: Process,
    pub(super) epoch: u64,
    pub(super) expires_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) callback: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AcceptedRecord {
    pub(super) reference: String,
    pub(super) answer_by: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SettledAs {
    Applied,
    NotApplied,
    Unknown,
}

/// The longest part of a text that the summary keeps, in characters.
pub(super) const LONGEST: usize = 200;

impl Progress {
    /// The progress of an execution, including unstored entries.
    pub(crate) fn of(execution: &dyn Durable) -> Self {
        let journal = execution.journal();
        let committed = &journal.stored().summary.context;
        if journal.uncommitted().is_empty() {
            return Self::part(committed);
        }
        // A history that breaks a rule is refused at the commit; the views show what was committed.
        let folded = execution.__rules().__fold(committed, journal.uncommitted());
        Self::part(folded.as_ref().map_or(committed, |folded| &folded.part))
    }

    pub(crate) fn part(stored: &serde_json::Value) -> Self {
        Self::deserialize(stored).unwrap_or_default()
    }

    /// It is unknown whether the call took effect, or a receipt waits to be recorded.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.status == Status::Waiting && self.verdict == Some(SettledAs::Unknown)
    }

    /// It waits for the report of its service, which has accepted the call.
    pub(crate) fn awaits_report(&self) -> bool {
        self.status == Status::Waiting && self.accepted.is_some() && self.verdict.is_none()
    }

    /// Until when its service reports, if it has accepted the call (milliseconds since the Unix
    /// epoch, by the clock of the store).
    pub(crate) fn report_by(&self) -> Option<Millis> {
        self.accepted.as_ref().map(|accepted| accepted.answer_by)
    }

    /// The beginning of the reference under which its service has accepted the call.
    pub(crate) fn reference(&self) -> Option<&str> {
        self.accepted.as_ref().map(|accepted| accepted.reference.as_str())
    }

    /// The digest of the token by which its service can report.
    pub(crate) fn callback(&self) -> Option<Digest> {
        self.permit.as_ref().and_then(|permit| permit.callback)
    }

    /// It ended as not done, and a receipt says that it was.
    pub(crate) fn is_contradicted(&self) -> bool {
        self.applied && self.has_ended() && self.status != Status::Completed
    }

    /// Returns `true` if the late refusal counts. A service can report it while the call is still
    /// running; then it counts when the call has ended.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.is_some() && (self.accepted.is_some() || self.ended_at.is_some())
    }

    /// The last known liveness of the call and its process.
    pub(crate) fn worker(&self) -> Liveness {
        match (self.ended_at, self.cut_off_at) {
            (Some(_), _) => Liveness::Ended,
            (None, Some(_)) => Liveness::CutOff,
            (None, None) => self.parked.unwrap_or(Liveness::Unknown),
        }
    }

    /// What to record of a call that is found like this at this time, if it is not known.
    pub(crate) fn found(&self, liveness: Liveness, at: Millis) -> Option<CallFact> {
        match liveness {
            Liveness::Ended if self.ended_at.is_none() => Some(CallFact::WorkerEnded { at }),
            Liveness::CutOff if self.worker() != liveness => Some(CallFact::CutOff { at }),
            _ => None,
        }
    }

    /// When the call was found to be cut off in a process that is still running (milliseconds since
    /// the Unix epoch, by the clock of the store).
    pub(crate) fn cut_off_at(&self) -> Option<Millis> {
        self.cut_off_at.filter(|_| self.ended_at.is_none())
    }

    pub(crate) fn process(&self) -> Option<&Process> {
        self.permit.as_ref().map(|permit| &permit.process)
    }

    pub(crate) fn permit(&self) -> Option<(&str, u64)> {
        self.permit.as_ref().map(|permit| (permit.worker.as_str(), permit.epoch))
    }

    /// Returns `true` if the outcome of the permit of this epoch is still open, without a fence.
    pub(crate) fn is_running_under(&self, epoch: u64) -> bool {
        self.status == Status::Running
            && self.verdict.is_none()
            && self.permit.as_ref().is_some_and(|permit| permit.epoch == epoch)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.status.definition().terminal
    }

    /// Evidence that the call took effect holds the key permanently, even if it was late.
    pub(crate) fn hold(&self) -> Hold {
        let given_up = self.has_ended() && self.status != Status::Completed;
        match (self.held, self.applied) {
            (true, true) => Hold::Applied,
            (true, false) if given_up => Hold::Released,
            (true, false) => Hold::Held,
            (false, _) => Hold::Free,
        }
    }

    /// The permit, as long as its outcome is unknown.
    pub(crate) fn unanswered(&self) -> Option<Permitted> {
        match self.verdict {
            None | Some(SettledAs::Unknown) => self.permit.as_ref().map(|permit| Permitted {
                worker: permit.worker.clone(),
                expires_at: self.report_by().unwrap_or(permit.expires_at),
                epoch: permit.epoch,
            }),
            Some(SettledAs::Applied | SettledAs::NotApplied) => None,
        }
    }
}

fn read_decision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decision>, D::Error> {
    #[derive(Deserialize)]
    struct WrittenDecision {
        approved: bool,
        by: String,
        at: Millis,
        expires_at: Option<Millis>,
    }
    let written = Option::<WrittenDecision>::deserialize(deserializer)?;
    Ok(written.map(|WrittenDecision { approved, by, at, expires_at }| Decision {
        approved,
        by,
        at,
        expires_at,
    }))
}
