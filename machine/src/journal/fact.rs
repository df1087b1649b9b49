use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Digest;
use crate::clock::Millis;

/// A deadline that is running.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Due {
    /// The trigger that it fires.
    pub trigger: Cow<'static, str>,
    /// The group that it runs in; `None` for a deadline of the state itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Cow<'static, str>>,
    /// The time after entering the state or group, in milliseconds.
    pub after_ms: u64,
    /// When it fires (milliseconds since the Unix epoch, by the clock of the store). The commit
    /// that writes the entry sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Millis>,
    /// It keeps running but cannot fire in this state, which replaces the group's transition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// It was started since the last commit.
    #[serde(skip)]
    pub(crate) fresh: bool,
}

/// Whether a deadline waits for its commit is not part of what it is.
impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        let parts = |due: &Self| (due.after_ms, due.due_at, due.paused);
        self.trigger == other.trigger && self.group == other.group && parts(self) == parts(other)
    }
}

impl Eq for Due {}

/// A fact about a machine, recorded in its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fact {
    /// The machine was created in its initial state.
    Created {
        /// The machine's name, such as `execution`.
        machine: Cow<'static, str>,
        /// The initial state.
        state: Cow<'static, str>,
        /// The deadlines that have been running since then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Due>,
    },
    /// A transition.
    Moved {
        /// The source state.
        from: Cow<'static, str>,
        /// The target state.
        to: Cow<'static, str>,
        /// The trigger.
        trigger: Cow<'static, str>,
        /// The payload from the caller, by name.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        payload: Map<String, Value>,
        /// The deadlines that have been running since then: those of the target state and of its
        /// groups.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Due>,
    },
    /// The machine took an idempotency key. It releases the key if it ends without an effect.
    Held {
        /// The key.
        key: String,
    },
    /// A permit for one irreversible call was issued.
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
    /// Evidence about an irreversible call.
    Evidence {
        /// The epoch of the permit that it answers.
        epoch: u64,
        /// Whether the effect took place.
        evidence: Evidence,
        /// It arrived after the worker was fenced: kept for people, changes no state.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
    /// The previous worker was fenced.
    Fenced {
        /// The new epoch.
        epoch: u64,
        /// Why.
        reason: String,
    },
}

/// Whether an irreversible effect took place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "detail", rename_all = "snake_case")]
pub enum Evidence {
    /// It took place, with this receipt from the remote side.
    Applied(String),
    /// It provably did not take place, for this reason.
    NotApplied(String),
    /// It is unknown whether it took place, for this reason.
    Unknown(String),
}
