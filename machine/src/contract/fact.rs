use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::{
    clock::Millis,
    id::Id,
    journal::{Digest, Entry, Fact},
    process::{Liveness, Process},
};

/// A fact about a call or an approval, recorded in the journal of its execution. Times are by the
/// clock of the store.
///
/// ```
/// use machine::{contract::CallFact, journal::Entry};
///
/// /// The evidence in a journal, as `Store::history` returns it.
/// fn evidence(entries: &[Entry]) -> Vec<CallFact> {
///     let facts = entries.iter().filter_map(CallFact::of);
///     facts.filter(|fact| matches!(fact, CallFact::Evidence { .. })).collect()
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum CallFact {
    /// The execution acquired its idempotency key. It releases the key if it ends without an
    /// effect.
    Held { key: String },
    /// A worker got a permit for one call or, if the action is idempotent, started to call.
    Permitted {
        /// The worker, so that other processes can check whether it is alive.
        worker: String,
        /// The process of the worker, for people.
        process: Process,
        /// The current epoch. Raising the epoch makes the worker's answer late.
        epoch: u64,
        /// The digest of the permitted action.
        action: Digest,
        /// When the call times out and becomes in doubt (milliseconds since the Unix epoch, by the
        /// clock of the store).
        expires_at: Millis,
        /// The name of the person who approved it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_by: Option<String>,
        /// The digest of the token by which its service can report the outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        callback: Option<Digest>,
    },
    /// The service has accepted the call, and reports its outcome later.
    Accepted {
        epoch: u64,
        /// The service's own reference.
        reference: String,
        /// Until when it reports, by the clock of the store. After that the execution is in doubt.
        answer_by: Millis,
    },
    /// Evidence about the call.
    Evidence {
        epoch: u64,
        evidence: Evidence,
        /// The evidence arrived after the execution had continued without it, so it changes no
        /// state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
    /// The execution was put in doubt.
    Parked { worker: Liveness, at: Millis },
    /// The call of an execution in doubt was found to be cut off, by its own process.
    CutOff { at: Millis },
    /// The call of an execution in doubt, or its process, was found to have ended.
    WorkerEnded { at: Millis },
    /// A person or a status query found out the outcome of an execution in doubt.
    Confirmed {
        /// `true` if the call took effect.
        applied: bool,
        /// The receipt, or the reason.
        reason: String,
        at: Millis,
        /// A person took responsibility before the worker had ended and the call had settled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overridden: bool,
    },
    /// A person answered a gate.
    Decided {
        /// `true` if the action may run.
        approved: bool,
        /// The execution that may run.
        execution: Id,
        /// The digest of its action.
        action: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        at: Millis,
        /// Until when the approval can be used, by the clock of the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Millis>,
    },
    /// A person answered a question. The answer is stored; the execution continues with it when its
    /// program resumes it.
    Answered { response: String, at: Millis },
    /// A person has seen that a receipt contradicts the end of the execution, and has dealt with
    /// it.
    Acknowledged { at: Millis },
    /// The execution will never be called, and ends without a permit.
    Closed { reason: String, cause: Closing },
}

/// The start of the reason of an execution that ends with its gate.
pub(crate) const NOT_APPROVED: &str = "not approved: ";

/// What ended an execution that will never be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum Closing {
    /// A person declined it.
    Declined {
        by: String,
        /// The reason, at most 200 characters; the gate has the full text.
        reason: String,
    },
    /// It was not approved in time, or the approval was not used in time.
    Expired,
    /// Another execution has performed the same action.
    AlreadyDone { by: Id },
    /// It was cancelled.
    Cancelled {
        /// The name of the person or the program.
        by: Option<String>,
        /// A person cancelled this execution, in the words of its reason.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_person: bool,
    },
}

/// Evidence of whether an irreversible call took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "store", derive(machine_derive::Class))]
pub enum Evidence {
    /// The call took effect, with this receipt from the remote side.
    Applied(String),
    /// The call provably did not take effect, for this reason.
    NotApplied(Refusal),
    /// It is unknown whether the call took effect, for this reason.
    Unknown(String),
}

impl CallFact {
    pub(super) const NAME: &'static str = "contract";

    /// The fact of a journal entry, if it is about a call.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        match &entry.fact {
            Fact::Recorded { name, data } if name == Self::NAME => Self::deserialize(data).ok(),
            _ => None,
        }
    }

    pub(crate) fn into_fact(self) -> Fact {
        // Strings and numbers can always be written as JSON.
        let data = serde_json::to_value(self).unwrap_or_default();
        Fact::Recorded { name: Self::NAME.into(), data }
    }
}
