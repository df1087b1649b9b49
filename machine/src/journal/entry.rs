use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Digest, DigestKey, Due, Fact, Kind, Line, canonical, canonical::write_object};
use crate::{
    clock::Millis,
    definition::{Definition, Fingerprint},
};

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
    /// Covers this entry and all before it. `None` until the entry is stored or serialized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What a line says beyond its columns.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Body {
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    payload: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deadlines: Vec<Due>,
}

impl Entry {
    /// The entry as a store keeps it, after a line with the digest `previous`. `definition` is the
    /// one that the entry was written under.
    ///
    /// # Errors
    ///
    /// If the definition has no such transition, or the fact cannot be written as JSON.
    pub(crate) fn to_line(
        &self,
        definition: &Definition,
        key: &DigestKey,
        previous: &Digest,
    ) -> Result<Line, String> {
        let (kind, edge, body) = match &self.fact {
            Fact::Created { deadlines, .. } => {
                (Kind::Created, None, body_of(&Map::new(), deadlines)?)
            }
            Fact::Moved { from, to, trigger, payload, deadlines } => {
                let edge = definition.state(from).zip(definition.state(to));
                let edge = edge.and_then(|(from, to)| definition.edge_index(from, trigger, to));
                let edge = edge.and_then(|edge| u32::try_from(edge).ok()).ok_or_else(|| {
                    format!("`{from}` -{trigger}-> `{to}` is not a transition of its definition")
                })?;
                (Kind::Moved, Some(edge), body_of(payload, deadlines)?)
            }
            Fact::Fenced { epoch, reason } => {
                let body = canonical(&json!({ "epoch": epoch, "reason": reason }));
                (Kind::Fenced, None, Some(body))
            }
            Fact::Recorded { name, data } => {
                let body = canonical(&json!({ "name": name, "data": data }));
                (Kind::Recorded, None, Some(body))
            }
        };
        let mut line = Line {
            number: self.number,
            at: self.at,
            actor: self.actor.clone(),
            definition: self.definition,
            kind,
            edge,
            body,
            digest: Digest::ZERO,
        };
        line.digest = line.expected_digest(key, previous);
        Ok(line)
    }

    /// The inverse of [`to_line`](Self::to_line). It checks no digest.
    ///
    /// # Errors
    ///
    /// What is wrong with the line.
    pub(crate) fn of_line(line: Line, definition: &Definition) -> Result<Self, String> {
        let Line { number, at, actor, definition: fingerprint, kind, edge, body, digest } = line;
        let unreadable =
            |error: serde_json::Error| format!("entry {number} is unreadable: {error}");
        let text = body.as_deref().unwrap_or("{}");
        let fact = match kind {
            Kind::Created => {
                let Body { deadlines, .. } = serde_json::from_str(text).map_err(unreadable)?;
                let state = definition.states[definition.initial].name.clone();
                Fact::Created { machine: definition.name.clone(), state, deadlines }
            }
            Kind::Moved => {
                let edge = edge.and_then(|edge| definition.edges.get(edge as usize));
                let edge =
                    edge.ok_or_else(|| format!("entry {number} has an unknown transition"))?;
                let Body { payload, deadlines } = serde_json::from_str(text).map_err(unreadable)?;
                Fact::Moved {
                    from: definition.states[edge.from].name.clone(),
                    to: definition.states[edge.to].name.clone(),
                    trigger: edge.trigger.clone(),
                    payload,
                    deadlines,
                }
            }
            Kind::Fenced => {
                #[derive(Deserialize)]
                struct Fenced {
                    epoch: u64,
                    reason: String,
                }
                let Fenced { epoch, reason } = serde_json::from_str(text).map_err(unreadable)?;
                Fact::Fenced { epoch, reason }
            }
            Kind::Recorded => {
                #[derive(Deserialize)]
                struct Recorded {
                    name: String,
                    data: Value,
                }
                let Recorded { name, data } = serde_json::from_str(text).map_err(unreadable)?;
                Fact::Recorded { name: name.into(), data }
            }
        };
        Ok(Self { number, at, actor, definition: fingerprint, fact, digest: Some(digest) })
    }
}

/// The payload and the deadlines of an entry as canonical text; nothing if there are none.
fn body_of(payload: &Map<String, Value>, deadlines: &[Due]) -> Result<Option<String>, String> {
    if payload.is_empty() && deadlines.is_empty() {
        return Ok(None);
    }
    let mut text = String::with_capacity(64);
    text.push('{');
    if !deadlines.is_empty() {
        let deadlines = serde_json::to_value(deadlines).map_err(|error| error.to_string())?;
        text.push_str("\"deadlines\":");
        text.push_str(&canonical(&deadlines));
    }
    if !payload.is_empty() {
        text.push_str(if deadlines.is_empty() { "\"payload\":" } else { ",\"payload\":" });
        write_object(payload, &mut text);
    }
    text.push('}');
    Ok(Some(text))
}
