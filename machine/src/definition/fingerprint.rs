use core::fmt;

use super::{
    Edge, Field, Invocation, Mark, StateDef, Text,
    rows::{slice, string},
};

/// Identifies one version of a definition. It does not protect against malice.
///
/// Displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

// FNV-1a, because it can run while the user's crate compiles, so that the table stays a constant.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Fingerprint {
    pub(super) const fn of(
        name: &str,
        version: u32,
        (context, marks): (&str, &[Mark]),
        states: &[StateDef],
        edges: &[Edge],
        initial: usize,
    ) -> Self {
        let mut hash = text(OFFSET, name);
        hash = text(number(number(hash, version as usize), initial), context);
        hash = number(hash, marks.len());
        let mut i = 0;
        while i < marks.len() {
            hash = number(text(hash, string(&marks[i].name)), marks[i].audience as usize);
            i += 1;
        }
        hash = number(hash, states.len());
        let mut i = 0;
        while i < states.len() {
            hash = text(hash, string(&states[i].name));
            hash = number(hash, states[i].stable as usize * 2 + states[i].terminal as usize);
            hash = fields(hash, slice(&states[i].fields));
            hash = texts(hash, slice(&states[i].was));
            if let Some(invocation) = &states[i].invocation {
                hash = invoked(hash, invocation);
            }
            i += 1;
        }
        let mut i = 0;
        while i < edges.len() {
            hash = number(number(hash, edges[i].from), edges[i].to);
            hash = text(hash, string(&edges[i].trigger));
            hash = fields(hash, slice(&edges[i].payload));
            hash = number(hash, edges[i].deadline.is_some() as usize);
            hash = texts(hash, slice(&edges[i].actors));
            // Most moves compute nothing, and keep the fingerprint that they had before this
            // counted.
            if !slice(&edges[i].computed).is_empty() {
                hash = texts(hash, slice(&edges[i].computed));
            }
            if edges[i].detach {
                hash = number(hash, 1);
            }
            let stays = edges[i].stays as usize;
            if stays > 0 {
                hash = number(hash, 1 + stays);
            }
            hash = texts(hash, slice(&edges[i].was));
            i += 1;
        }
        Self(hash)
    }
}

const fn fields(mut hash: u64, fields: &[Field]) -> u64 {
    hash = number(hash, fields.len());
    let mut i = 0;
    while i < fields.len() {
        hash = text(text(hash, string(&fields[i].name)), string(&fields[i].ty));
        hash = number(texts(hash, slice(&fields[i].was)), fields[i].optional as usize);
        hash = number(hash, fields[i].audience as usize);
        i += 1;
    }
    hash
}

/// Approval and times count for the next entry only, so they are left out.
const fn invoked(hash: u64, invocation: &Invocation) -> u64 {
    let Invocation { name, service, method, .. } = invocation;
    let mut hash = text(text(text(hash, string(name)), string(service)), string(method));
    hash = number(hash, invocation.irreversible as usize * 2 + invocation.set as usize);
    hash = some_text(some_text(hash, &invocation.done), &invocation.failed);
    texts(some_text(hash, &invocation.each), slice(&invocation.was))
}

#[allow(clippy::ref_option, reason = "it is const")]
const fn some_text(hash: u64, some: &Option<Text>) -> u64 {
    match some {
        Some(some) => text(number(hash, 1), string(some)),
        None => number(hash, 0),
    }
}

const fn texts(mut hash: u64, texts: &[Text]) -> u64 {
    hash = number(hash, texts.len());
    let mut i = 0;
    while i < texts.len() {
        hash = text(hash, string(&texts[i]));
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

#[cfg(feature = "durable")]
impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "durable")]
impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <alloc::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(&text, 16).ok().filter(|_| digits);
        number
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a fingerprint has 16 hexadecimal digits"))
    }
}
