//! A forger who knows the format: changes a record and recomputes all digests.
//!
//! Written from the documentation of the format, not with the library's own code, so that it also
//! pins the format.

use machine::{
    contract::AnyExecution,
    definition::Fingerprint,
    erased::{Durable, Restore, Unverified, VerifyError},
    journal::{Digest, Entry},
};

/// The unverified record of a machine.
#[must_use]
pub fn claim(machine: &dyn Durable) -> Unverified {
    Unverified::of(machine).unwrap()
}

/// Recomputes every digest and the seal after the record was changed.
pub fn reseal(claim: &mut Unverified) {
    let mut head = [0; 32];
    for entry in &mut claim.journal {
        // Via `Value`, whose maps are sorted.
        let body = serde_json::to_value(&entry.fact).unwrap().to_string();
        head = entry_digest(&head, entry, &body);
        entry.digest = digest(head);
    }
    seal(claim, &head);
}

/// Recomputes the seal, given the digest of the newest entry.
pub fn seal(claim: &mut Unverified, head: &[u8; 32]) {
    let record = &mut claim.record;
    record.seal = digest(hash(&[
        record.id.to_string().as_bytes(),
        record.machine.as_bytes(),
        &record.fingerprint.as_u64().to_le_bytes(),
        record.status.as_bytes(),
        record.state.as_bytes(),
        record.context.as_bytes(),
        &record.epoch.to_le_bytes(),
        head,
    ]));
}

/// The digest of an entry whose fact is stored as `body`.
#[must_use]
pub fn entry_digest(previous: &[u8; 32], entry: &Entry, body: &str) -> [u8; 32] {
    hash(&[
        previous,
        &entry.number.to_le_bytes(),
        &entry.at.to_le_bytes(),
        &entry.definition.as_u64().to_le_bytes(),
        &[u8::from(entry.actor.is_some())],
        entry.actor.as_deref().unwrap_or_default().as_bytes(),
        body.as_bytes(),
    ])
}

/// An entry from its JSON; [`reseal`] fills in the digest.
#[must_use]
pub fn entry(
    number: u64,
    at: i64,
    actor: Option<&str>,
    definition: Fingerprint,
    fact: &serde_json::Value,
) -> Entry {
    let digest = "0".repeat(64);
    let entry = serde_json::json!({
        "number": number, "at": at, "actor": actor, "definition": definition, "fact": fact,
        "digest": digest,
    });
    serde_json::from_value(entry).unwrap()
}

/// Reseals and verifies a forged record.
///
/// # Errors
///
/// Those of [`Unverified::verify`].
pub fn cross<M: Restore>(mut claim: Unverified) -> Result<M, VerifyError> {
    reseal(&mut claim);
    claim.verify()
}

/// Reseals and verifies a forged execution.
///
/// # Errors
///
/// Those of [`Unverified::verify`].
pub fn cross_execution(claim: Unverified) -> Result<AnyExecution, VerifyError> {
    cross(claim)
}

/// The 32 bytes as the library's digest type.
#[must_use]
pub fn digest(bytes: [u8; 32]) -> Digest {
    blake3::Hash::from_bytes(bytes).to_hex().parse().unwrap()
}

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}
