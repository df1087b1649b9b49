use core::fmt;

use super::{Edge, Field, StateDef};

/// Tells one version of a definition from another. It is no protection against malice.
///
/// Displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

// FNV-1a, because it can run while the user's crate compiles, so that the table stays a constant.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Fingerprint {
    pub(super) const fn of(
        name: &str,
        states: &[StateDef],
        edges: &[Edge],
        initial: usize,
    ) -> Self {
        let mut hash = text(OFFSET, name);
        hash = number(hash, initial);
        let mut i = 0;
        while i < states.len() {
            hash = text(hash, states[i].name);
            hash = number(hash, states[i].stable as usize * 2 + states[i].terminal as usize);
            hash = fields(hash, states[i].fields);
            i += 1;
        }
        let mut i = 0;
        while i < edges.len() {
            hash = number(number(hash, edges[i].from), edges[i].to);
            hash = text(hash, edges[i].trigger);
            hash = fields(hash, edges[i].payload);
            hash = number(hash, edges[i].actors.len());
            let mut actor = 0;
            while actor < edges[i].actors.len() {
                hash = text(hash, edges[i].actors[actor]);
                actor += 1;
            }
            i += 1;
        }
        Self(hash)
    }
}

const fn fields(mut hash: u64, fields: &[Field]) -> u64 {
    hash = number(hash, fields.len());
    let mut i = 0;
    while i < fields.len() {
        hash = text(text(hash, fields[i].name), fields[i].ty);
        i += 1;
    }
    hash
}

// The length comes first, so that ("ab", "c") and ("a", "bc") differ.
const fn text(hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = number(hash, bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    hash
}

const fn number(mut hash: u64, number: usize) -> u64 {
    let bytes = (number as u64).to_le_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    hash
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}
