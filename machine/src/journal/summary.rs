use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Due, Entry, Fact};
use crate::clock::Millis;

/// The past of a machine, as far as rules and views need it: a fold over its journal, so that
/// loading a machine takes the same time however long its history is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// When the machine was created (milliseconds since the Unix epoch).
    #[serde(skip)]
    pub created_at: Millis,
    /// When its newest journal entry was made (milliseconds since the Unix epoch).
    #[serde(skip)]
    pub updated_at: Millis,
    /// When it entered its state (milliseconds since the Unix epoch).
    pub entered_at: Millis,
    /// The number of the entry that began the visit of its state: the newest transition that did
    /// not stay, or creation, which is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub entered: u64,
    /// The number of transitions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transitions: u64,
    /// The trigger of the last transition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_trigger: Option<Cow<'static, str>>,
    /// The kind of the actor of the last transition; `None` if none was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_actor: Option<Cow<'static, str>>,
    /// The deadlines that are running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlines: Vec<Due>,
    /// The format of the context's part.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) format: u32,
    /// The part that the context folds.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) context: Value,
}

/// Returns whether a field has nothing to write.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Summary {
    pub(crate) const NEW: Self = Self {
        created_at: 0,
        updated_at: 0,
        entered_at: 0,
        entered: 0,
        transitions: 0,
        last_trigger: None,
        last_actor: None,
        deadlines: Vec::new(),
        format: 0,
        context: Value::Null,
    };

    /// Adds an entry to the part that every machine has.
    pub(crate) fn add(&mut self, entry: &Entry) {
        self.updated_at = entry.at;
        match &entry.fact {
            Fact::Created { deadlines, .. } => {
                (self.created_at, self.entered_at) = (entry.at, entry.at);
                self.deadlines.clone_from(deadlines);
            }
            Fact::Moved { trigger, stays, deadlines, .. } => {
                if !stays {
                    (self.entered_at, self.entered) = (entry.at, entry.number);
                }
                self.transitions += 1;
                self.last_trigger = Some(trigger.clone());
                self.last_actor.clone_from(&entry.actor);
                self.deadlines.clone_from(deadlines);
            }
            Fact::Fenced { .. } | Fact::Recorded { .. } => {}
        }
        for due in &mut self.deadlines {
            due.fresh = false;
        }
    }

    pub(crate) fn due_at(&self) -> Option<Millis> {
        Due::first(&self.deadlines)
    }
}
