use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::id::InvalidText;

/// A BLAKE3 digest. Displayed as 64 hexadecimal digits.
///
/// Without a key it detects accidents, not forgery: anybody can compute it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(blake3::Hash);

impl Digest {
    pub(crate) const ZERO: Self = Self(blake3::Hash::from_bytes([0; 32]));

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

/// The key that a store digests with, if it has one.
#[derive(Clone, Copy, Default)]
pub(crate) struct DigestKey(Option<[u8; 32]>);

impl DigestKey {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(Some(key))
    }

    /// Digests the parts in order. Each part is prefixed with its length, so that different lists
    /// of parts cannot collide.
    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let length: usize = parts.iter().map(|part| 8 + part.len()).sum();
        // One call for everything is faster than one for each part.
        let mut short = [0; SHORT];
        let mut long = Vec::new();
        let bytes = if let Some(bytes) = short.get_mut(..length) {
            bytes
        } else {
            long.resize(length, 0);
            &mut long[..]
        };
        let mut rest = &mut *bytes;
        for part in parts {
            rest = put(rest, &(part.len() as u64).to_le_bytes());
            rest = put(rest, part);
        }
        Digest(match &self.0 {
            None => blake3::hash(bytes),
            Some(key) => blake3::keyed_hash(key, bytes),
        })
    }
}

/// The longest input that is digested without an allocation, in bytes: nearly every journal entry
/// and most rows fit.
const SHORT: usize = 1024;

/// Writes a part at the front, and returns the rest.
fn put<'a>(bytes: &'a mut [u8], part: &[u8]) -> &'a mut [u8] {
    let (front, rest) = bytes.split_at_mut(part.len());
    front.copy_from_slice(part);
    rest
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
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let expected = "a digest has 64 hexadecimal digits; pass it as it was shown";
        text.parse().map(Self).map_err(|_| InvalidText(expected.to_owned()))
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
