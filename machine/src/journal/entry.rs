use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Digest, DigestKey, Due, EntryKind, Fact, Line, canonical};
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
    /// When it was committed (milliseconds since the Unix epoch, by the clock of the store); before
    /// the commit, when it was made, by the clock of the system. Less than in the previous entry if
    /// the clock has gone back.
    pub at: Millis,
    /// The kind of the actor, such as `tool_node`; `None` if none was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Cow<'static, str>>,
    /// The name of the actor, such as `mailer` or `ann@example.com`; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// The definition that the entry was written under: history that was legal then stays legal.
    pub definition: Fingerprint,
    /// The fact that the entry records.
    pub fact: Fact,
    /// Covers this entry and all before it. `None` until the entry is stored or serialized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// When it was made, while a commit that may fail has set its time.
    #[serde(skip)]
    pub(super) made_at: Option<Millis>,
}

/// The part of a line beyond its columns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LineBody {
    by: Option<Box<str>>,
    payload: Map<String, Value>,
    stays: bool,
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
                (EntryKind::Created, None, self.body(&Map::new(), deadlines, false)?)
            }
            Fact::Moved { from, to, trigger, stays, payload, deadlines } => {
                let edge = definition.state(from).zip(definition.state(to));
                let edge = edge.and_then(|(from, to)| definition.edge_index(from, trigger, to));
                let edge = edge.and_then(|edge| u32::try_from(edge).ok()).ok_or_else(|| {
                    format!("`{from}` -{trigger}-> `{to}` is not a transition of its definition")
                })?;
                (EntryKind::Moved, Some(edge), self.body(payload, deadlines, *stays)?)
            }
            Fact::Fenced { epoch, reason } => {
                let body = self.facts(json!({ "epoch": epoch, "reason": reason }));
                (EntryKind::Fenced, None, Some(body))
            }
            Fact::Recorded { name, data } => {
                let body = self.facts(json!({ "name": name, "data": data }));
                (EntryKind::Recorded, None, Some(body))
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
    /// A description of the problem with the line.
    pub(crate) fn of_line(line: Line, definition: &Definition) -> Result<Self, String> {
        let Line { number, at, actor, definition: fingerprint, kind, edge, body, digest } = line;
        let unreadable =
            |error: serde_json::Error| format!("entry {number} is unreadable: {error}");
        let text = body.as_deref().unwrap_or("{}");
        let (fact, by) = match kind {
            EntryKind::Created => {
                let LineBody { deadlines, by, .. } =
                    serde_json::from_str(text).map_err(unreadable)?;
                let state = definition.states[definition.initial].name.clone();
                (Fact::Created { machine: definition.name.clone(), state, deadlines }, by)
            }
            EntryKind::Moved => {
                let edge = edge.and_then(|edge| definition.edges.get(edge as usize));
                let edge =
                    edge.ok_or_else(|| format!("entry {number} has an unknown transition"))?;
                let LineBody { payload, deadlines, by, stays } =
                    serde_json::from_str(text).map_err(unreadable)?;
                let fact = Fact::Moved {
                    from: definition.states[edge.from].name.clone(),
                    to: definition.states[edge.to].name.clone(),
                    trigger: edge.trigger.clone(),
                    stays,
                    payload,
                    deadlines,
                };
                (fact, by)
            }
            EntryKind::Fenced => {
                #[derive(Deserialize)]
                struct Fenced {
                    #[serde(default)]
                    by: Option<Box<str>>,
                    epoch: u64,
                    reason: String,
                }
                let Fenced { by, epoch, reason } =
                    serde_json::from_str(text).map_err(unreadable)?;
                (Fact::Fenced { epoch, reason }, by)
            }
            EntryKind::Recorded => {
                #[derive(Deserialize)]
                struct Recorded {
                    #[serde(default)]
                    by: Option<Box<str>>,
                    name: String,
                    data: Value,
                }
                let Recorded { by, name, data } = serde_json::from_str(text).map_err(unreadable)?;
                (Fact::Recorded { name: name.into(), data }, by)
            }
        };
        let (digest, made_at) = (Some(digest), None);
        Ok(Self { number, at, actor, by, definition: fingerprint, fact, digest, made_at })
    }

    /// Actor, payload, deadlines and whether it stays, as canonical text; nothing if there is none
    /// of it.
    fn body(
        &self,
        payload: &Map<String, Value>,
        deadlines: &[Due],
        stays: bool,
    ) -> Result<Option<String>, String> {
        let mut body = Map::new();
        if !deadlines.is_empty() {
            let deadlines = serde_json::to_value(deadlines).map_err(|error| error.to_string())?;
            body.insert("deadlines".to_owned(), deadlines);
        }
        if !payload.is_empty() {
            body.insert("payload".to_owned(), payload.clone().into());
        }
        if stays {
            body.insert("stays".to_owned(), true.into());
        }
        let is_empty = body.is_empty() && self.by.is_none();
        Ok((!is_empty).then(|| self.facts(body.into())))
    }

    /// The facts and the actor, as canonical text.
    fn facts(&self, mut facts: Value) -> String {
        if let (Value::Object(map), Some(by)) = (&mut facts, &self.by) {
            map.insert("by".to_owned(), Value::from(&**by));
        }
        canonical(&facts)
    }
}
