use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    clock::Millis,
    definition::{Definition, Edge},
};

/// A deadline that is running.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Due {
    /// The trigger that it fires.
    pub trigger: Cow<'static, str>,
    /// The group that it runs in; `None` for a deadline of the state itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Cow<'static, str>>,
    /// The time after entering the state or group, in milliseconds; 0 for a point in time.
    pub after_ms: u64,
    /// When it fires (milliseconds since the Unix epoch, by the clock of the store). The commit
    /// that writes the entry sets it, unless it is a point in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Millis>,
    /// It keeps running but cannot fire in this state, which replaces the group's transition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    #[serde(skip)]
    pub(crate) fresh: bool,
}

impl Due {
    pub(crate) fn fires(&self, definition: &Definition, edge: &Edge) -> bool {
        definition.fires(edge, &self.trigger, self.group.as_deref())
    }

    /// When the first of these deadlines is due, of those that a commit has started.
    pub(crate) fn first(deadlines: &[Self]) -> Option<Millis> {
        deadlines.iter().filter(|due| !due.paused).filter_map(|due| due.due_at).min()
    }
}

/// Equality ignores whether a deadline waits for its commit.
impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        let parts = |due: &Self| (due.after_ms, due.due_at, due.paused);
        self.trigger == other.trigger && self.group == other.group && parts(self) == parts(other)
    }
}

impl Eq for Due {}

/// A fact about a machine, recorded in its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum Fact {
    /// The machine was created in its initial state.
    Created {
        machine: Cow<'static, str>,
        state: Cow<'static, str>,
        /// The deadlines that have been running since then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Due>,
    },
    /// A transition.
    Moved {
        from: Cow<'static, str>,
        to: Cow<'static, str>,
        trigger: Cow<'static, str>,
        /// It stayed in its state (`=> Self`): it began no visit, and no deadline started again.
        /// Without this mark it began one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stays: bool,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        payload: Map<String, Value>,
        /// The deadlines that have been running since then: those of the target state and of its
        /// groups.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deadlines: Vec<Due>,
    },
    /// The previous worker was fenced.
    Fenced { epoch: u64, reason: String },
    /// A fact of another module, such as a permit or evidence of
    /// [`contract`](crate::contract::CallFact). It changes no state.
    Recorded { name: Cow<'static, str>, data: Value },
}
