use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Action, action::plain};
use crate::journal::{Digest, canonical};

/// The key under which an irreversible action runs at most once (EX-5).
///
/// It is derived from the action: service, method and a digest of the arguments in canonical form,
/// so that key order does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub(super) fn derive(service: &str, method: &str, arguments: &Map<String, Value>) -> Self {
        let arguments = canonical(&plain(Value::Object(arguments.clone())));
        // Escape the separator, so that two tools cannot share a key.
        let name = |name: &str| name.replace('%', "%25").replace(':', "%3A");
        let digest = Digest::of(&[arguments.as_bytes()]);
        Self(format!("{}:{}:{digest}", name(service), name(method)))
    }

    /// The key of an action that is not a tool call.
    pub(super) fn of(action: &Action) -> Self {
        Self(format!("{}:{}", action.action_type(), action.digest()))
    }

    /// The key as text, for a service that deduplicates too.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
