use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Digest, Fact, canonical};
use crate::{clock::Millis, definition::Fingerprint};

/// An entry of a machine's journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// The position in this machine's journal, from 0.
    pub number: u64,
    /// When (milliseconds since the Unix epoch). Never less than in the previous entry.
    pub at: Millis,
    /// The kind of the actor, such as `tool_node`; `None` if any actor may make the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Cow<'static, str>>,
    /// The definition that the entry was written under: what was legal then stays legal history.
    pub definition: Fingerprint,
    /// What happened.
    pub fact: Fact,
    /// Covers this entry and all before it.
    pub digest: Digest,
}

impl Entry {
    /// The fact as the text that is stored and digested. Canonical, so that every program produces
    /// the same text.
    pub(crate) fn body(&self) -> Result<String, serde_json::Error> {
        serde_json::to_value(&self.fact).map(|fact| canonical(&fact))
    }

    /// The digest of this entry after an entry with the digest `previous`.
    pub(crate) fn expected_digest(&self, previous: &Digest, body: &str) -> Digest {
        Digest::of(&[
            previous.bytes(),
            &self.number.to_le_bytes(),
            &self.at.to_le_bytes(),
            &self.definition.as_u64().to_le_bytes(),
            &[u8::from(self.actor.is_some())],
            self.actor.as_deref().unwrap_or_default().as_bytes(),
            body.as_bytes(),
        ])
    }
}
