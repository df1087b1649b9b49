//! A forger who knows the format: changes a record and recomputes all digests.
//!
//! Written from the documentation of the format, not with the library's own code, so that it also
//! pins the format.

use std::collections::BTreeMap;

use machine::{
    contract::AnyExecution,
    definition::{Definition, Fingerprint},
    journal::{Digest, Entry},
    stored::{Durable, Restore, Unverified, VerifyError},
};
use serde_json::{Map, Value};

/// The unverified record of a machine that was never stored.
#[must_use]
pub fn claim(machine: &dyn Durable) -> Unverified {
    Unverified::of(machine).unwrap()
}

/// Recomputes every digest and the seal after the record was changed. `own` is the definition of
/// the program that reads it.
pub fn reseal(claim: &mut Unverified, own: &Definition) {
    let mut head = [0; 32];
    let older = &claim.definitions;
    for entry in &mut claim.journal {
        let mut known = older.iter().map(|older| &**older).chain([own]);
        let definition = known.find(|known| known.fingerprint == entry.definition);
        head = entry_digest(&head, entry, definition);
        entry.digest = Some(digest(head));
    }
    seal(claim, &head);
}

/// Recomputes the seal, given the digest of the newest entry.
pub fn seal(claim: &mut Unverified, head: &[u8; 32]) {
    let record = &mut claim.record;
    record.seal = digest(hash(&[
        record.id.to_string().as_bytes(),
        record.machine.as_bytes(),
        &record.fingerprint.0.to_le_bytes(),
        record.status.as_bytes(),
        record.state.as_bytes(),
        record.context.as_bytes(),
        &record.epoch.to_le_bytes(),
        head,
    ]));
}

/// The digest of an entry that was written under this definition. A transition that the definition
/// does not have, or whose definition is unknown, gets a number that no transition has.
#[must_use]
pub fn entry_digest(
    previous: &[u8; 32],
    entry: &Entry,
    definition: Option<&Definition>,
) -> [u8; 32] {
    let Value::Object(fact) = serde_json::to_value(&entry.fact).unwrap() else {
        panic!("a fact is an object")
    };
    let (kind, fact) = fact.iter().next().unwrap();
    let (kind, in_body): (u8, &[&str]) = match kind.as_str() {
        "created" => (0, &["deadlines"]),
        "moved" => (1, &["deadlines", "payload", "stays"]),
        "fenced" => (2, &["epoch", "reason"]),
        "recorded" => (3, &["data", "name"]),
        other => panic!("unknown fact `{other}`"),
    };
    let edge = (kind == 1).then(|| {
        let text = |name: &str| fact[name].as_str().unwrap();
        edge(definition, text("from"), text("trigger"), text("to"))
    });
    let edge = edge.map(u32::to_le_bytes);
    let body = in_body.iter().filter_map(|name| Some((*name, fact.get(*name)?.clone())));
    let mut body: Map<String, Value> = body.map(|(name, value)| (name.to_owned(), value)).collect();
    if let Some(by) = &entry.by {
        body.insert("by".to_owned(), Value::from(&**by));
    }
    let body = (!body.is_empty()).then(|| canonical(&Value::Object(body)));
    hash(&[
        previous,
        &entry.number.to_le_bytes(),
        &entry.at.to_le_bytes(),
        &entry.definition.0.to_le_bytes(),
        &[u8::from(entry.actor.is_some())],
        entry.actor.as_deref().unwrap_or_default().as_bytes(),
        &[kind],
        edge.as_ref().map_or(&[], <[u8; 4]>::as_slice),
        &[u8::from(body.is_some())],
        body.as_deref().unwrap_or_default().as_bytes(),
    ])
}

/// JSON text with sorted names, without spaces, with each number in its shortest form.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map.iter().collect();
            let items = sorted.into_iter().map(|(name, value)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(value))
            });
            format!("{{{}}}", items.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) if number.as_i64().is_none() && number.as_u64().is_none() => {
            serde_json::to_string(&number.as_f64().unwrap()).unwrap()
        }
        other => other.to_string(),
    }
}

/// The number of a transition in its definition, found by its names.
fn edge(definition: Option<&Definition>, from: &str, trigger: &str, to: &str) -> u32 {
    let found = definition.and_then(|definition| {
        let name = |state: usize| &definition.states[state].name;
        let mut edges = definition.edges.iter();
        edges.position(|edge| {
            edge.trigger == trigger && name(edge.from) == from && name(edge.to) == to
        })
    });
    found.map_or(u32::MAX, |edge| u32::try_from(edge).unwrap())
}

/// An entry from its JSON; [`reseal`] fills in the digest.
#[must_use]
pub fn entry(
    number: u64,
    at: i64,
    actor: Option<&str>,
    definition: Fingerprint,
    fact: &Value,
) -> Entry {
    let entry = serde_json::json!({
        "number": number, "at": at, "actor": actor, "definition": definition, "fact": fact,
    });
    serde_json::from_value(entry).unwrap()
}

/// Reseals and verifies a forged record.
///
/// # Errors
///
/// The errors of [`Unverified::verify`].
pub fn cross<M: Restore>(mut claim: Unverified) -> Result<M, VerifyError> {
    reseal(&mut claim, M::DEFINITION);
    claim.verify()
}

/// Reseals and verifies a forged execution.
///
/// # Errors
///
/// The errors of [`Unverified::verify`].
pub fn cross_execution(claim: Unverified) -> Result<AnyExecution, VerifyError> {
    cross(claim)
}

/// The 32 bytes as the library's digest type.
#[must_use]
pub fn digest(bytes: [u8; 32]) -> Digest {
    blake3::Hash::from_bytes(bytes).to_hex().parse().unwrap()
}

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    keyed_hash(None, parts)
}

/// The digest of parts, each with its length before it.
#[must_use]
pub fn keyed_hash(key: Option<&[u8; 32]>, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = key.map_or_else(blake3::Hasher::new, blake3::Hasher::new_keyed);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}
