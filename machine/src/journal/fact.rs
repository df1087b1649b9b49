use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Digest;
use crate::clock::Millis;

/// A deadline that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Due {
    /// The trigger that it fires.
    pub trigger: Cow<'static, str>,
    /// The group that it runs in; without one it is the state's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Cow<'static, str>>,
    /// How long after entering, in milliseconds.
    pub after_ms: u64,
    /// When it fires (milliseconds since the Unix epoch, by the clock of the store). The commit
    /// that writes the entry sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Millis>,
    /// It runs on, but cannot fire in this state, which replaces the group's transition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// One thing that happened to a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fact {
    /// The machine came to be, in its initial state.
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
        /// The state that was left.
        from: Cow<'static, str>,
        /// The state that was entered.
        to: Cow<'static, str>,
        /// What moved it.
        trigger: Cow<'static, str>,
        /// What the caller brought, by name.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        payload: Map<String, Value>,
        /// The deadlines that have been running since then: those of the state that was entered,
        /// and those of its groups.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Due>,
    },
    /// The machine took an idempotency key. It lets go when it ends without an effect.
    Held {
        /// The key.
        key: String,
    },
    /// A permit for one irreversible call went out.
    Permitted {
        /// Whom it went to, so that others can tell whether that worker still lives.
        worker: String,
        /// The epoch at that time. A raised epoch makes the permit's answer late.
        epoch: u64,
        /// The digest of the exact action.
        action: Digest,
        /// After this the call counts as in doubt (milliseconds since the Unix epoch).
        expires_at: Millis,
    },
    /// What is known of an irreversible call.
    Evidence {
        /// The epoch of the permit that it answers.
        epoch: u64,
        /// Whether the effect took place.
        evidence: Evidence,
        /// It came after the worker had been fenced: kept for people, changes nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
    /// Whoever worked on this machine before was shut out.
    Fenced {
        /// The epoch from now on.
        epoch: u64,
        /// Why.
        reason: String,
    },
}

/// Whether an irreversible effect took place, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "detail", rename_all = "snake_case")]
pub enum Evidence {
    /// It took place; the receipt says what the other side answered.
    Applied(String),
    /// It provably did not take place, because of this.
    NotApplied(String),
    /// Nobody can say; this is why.
    Unknown(String),
}
