use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A BLAKE3 digest. Displayed as 64 hexadecimal digits.
///
/// Without a key it detects accidents, not forgery: anybody can compute it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(blake3::Hash);

impl Digest {
    pub(crate) const ZERO: Self = Self(blake3::Hash::from_bytes([0; 32]));

    /// Digests the parts without a key.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        DigestKey::default().digest(parts)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(blake3::Hash::from_bytes(bytes))
    }
}

/// How a store digests: with its key, or without one.
#[derive(Clone, Copy, Default)]
pub(crate) struct DigestKey(Option<[u8; 32]>);

impl DigestKey {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(Some(key))
    }

    /// Digests the parts in order. Each part is prefixed with its length, so that different lists
    /// of parts cannot collide.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        // One call for everything is faster than one for each part.
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| 8 + part.len()).sum());
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        Digest(match &self.0 {
            None => blake3::hash(&bytes),
            Some(key) => blake3::keyed_hash(key, &bytes),
        })
    }
}

/// The key stays out of logs.
impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "DigestKey(..)" } else { "DigestKey(none)" })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = blake3::HexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
