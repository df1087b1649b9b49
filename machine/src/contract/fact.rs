use serde::{Deserialize, Serialize};

use crate::{
    clock::Millis,
    journal::{Digest, Entry, Fact},
};

/// A fact about an irreversible call, recorded in the journal of its execution.
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
pub enum CallFact {
    /// The execution took its idempotency key. It releases the key if it ends without an effect.
    Held {
        /// The key.
        key: String,
    },
    /// A permit for one call was issued.
    Permitted {
        /// The worker that got the permit, so that other processes can check whether it is alive.
        worker: String,
        /// The current epoch. Raising the epoch makes the permit's answer late.
        epoch: u64,
        /// The digest of the permitted action.
        action: Digest,
        /// When the call times out and becomes in doubt (milliseconds since the Unix epoch).
        expires_at: Millis,
    },
    /// Evidence about the call.
    Evidence {
        /// The epoch of the permit that it answers.
        epoch: u64,
        /// Whether the effect took place.
        evidence: Evidence,
        /// It arrived after the worker was fenced: it changes no state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
}

/// Whether an irreversible effect took place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It took place, with this receipt from the remote side.
    Applied(String),
    /// It provably did not take place, for this reason.
    NotApplied(String),
    /// It is unknown whether it took place, for this reason.
    Unknown(String),
}

impl CallFact {
    /// The module's name in the journal.
    pub(super) const NAME: &'static str = "contract";

    /// The fact of a journal entry, if it is about a call.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        match &entry.fact {
            Fact::Recorded { name, data } if name == Self::NAME => Self::deserialize(data).ok(),
            _ => None,
        }
    }

    /// The fact for the journal.
    pub(crate) fn into_fact(self) -> Fact {
        // Strings and numbers can always be written as JSON.
        let data = serde_json::to_value(self).unwrap_or_default();
        Fact::Recorded { name: Self::NAME.into(), data }
    }
}
