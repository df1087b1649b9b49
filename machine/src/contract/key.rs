use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize};

use super::Action;
use crate::journal::{Digest, canonical_whole, canonical_whole_object};

/// The key under which an irreversible action runs at most once.
///
/// It is derived from the action: service, method, and a digest of the arguments in canonical form,
/// so that key order does not matter. [`Tool::identity`](super::Tool::identity) replaces the
/// arguments, and an occurrence is covered too.
///
/// A key is never read from data: it is derived again from the action.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub(crate) fn of(action: &Action) -> Self {
        let Some(call) = action.tool() else {
            return Self(format!("{}:{}", action.action_type(), action.digest()));
        };
        let identity = match call.identity {
            Some(identity) => canonical_whole(identity),
            None => canonical_whole_object(call.arguments),
        };
        let digest = match call.occurrence {
            None => Digest::of(&[identity.as_bytes()]),
            Some(occurrence) => Digest::of(&[identity.as_bytes(), occurrence.as_bytes()]),
        };
        Self(format!("{}:{}:{digest}", escape(call.service), escape(call.method)))
    }

    /// The common prefix of the keys of a tool: all of a key but its digest.
    pub(super) fn tool_of(service: &str, method: &str) -> String {
        format!("{}:{}", escape(service), escape(method))
    }

    pub(crate) fn is_form_of(text: &str) -> bool {
        let is_digest = |digest: &str| {
            digest.len() == 64
                && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        text.rsplit_once(':').is_some_and(|(of, digest)| !of.is_empty() && is_digest(digest))
    }

    /// The key as text, for a service that deduplicates too.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name without the separator, so that two tools cannot share a key.
fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['%', ':']) {
        return Cow::Owned(name.replace('%', "%25").replace(':', "%3A"));
    }
    Cow::Borrowed(name)
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a key as a part of a contract, which compares it with the one that it derives.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<IdempotencyKey>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(IdempotencyKey))
}
