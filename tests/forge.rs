//! What a forger can do who knows the format: change a record and make all digests fit again.
//!
//! Written from the documentation of the format, not with the library's own code, so that it
//! pins the format as well.

use machine::{
    contract::AnyExecution,
    definition::Fingerprint,
    erased::{Durable, Restore, Unverified, VerifyError},
    journal::{Digest, Entry},
};

/// What stands to be written for a machine.
#[must_use]
pub fn claim(machine: &dyn Durable) -> Unverified {
    Unverified::of(machine).unwrap()
}

/// Makes every digest and the seal fit what now stands in the record.
pub fn reseal(claim: &mut Unverified) {
    let mut head = [0; 32];
    for entry in &mut claim.journal {
        // Through a value, whose maps are sorted.
        let body = serde_json::to_value(&entry.fact).unwrap().to_string();
        head = entry_digest(&head, entry, &body);
        entry.digest = digest(head);
    }
    seal(claim, &head);
}

/// Makes the seal fit, given the digest of the newest entry.
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

/// An entry out of its JSON; the digest is filled in by [`reseal`].
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

/// Takes a forged claim across the border.
///
/// # Errors
///
/// What [`Unverified::verify`] says.
pub fn cross<M: Restore>(mut claim: Unverified) -> Result<M, VerifyError> {
    reseal(&mut claim);
    claim.verify()
}

/// Takes a forged execution across the border.
///
/// # Errors
///
/// What [`Unverified::verify`] says.
pub fn cross_execution(claim: Unverified) -> Result<AnyExecution, VerifyError> {
    cross(claim)
}

/// The 32 bytes as the library's own type.
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
