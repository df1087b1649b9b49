use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::legible::Illegible;

/// The globally unique identity of a machine (a version 7 UUID, so ids sort by creation time).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(Uuid);

impl Id {
    pub(crate) fn fresh() -> Self {
        Self(Uuid::now_v7())
    }

    /// An id of this time (milliseconds since the Unix epoch), whose other bits are those of a
    /// digest.
    pub(crate) fn derived(at: i64, digest: &[u8; 32]) -> Self {
        let mut rest = [0; 10];
        rest.copy_from_slice(&digest[..10]);
        let at = u64::try_from(at).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(at, &rest).into_uuid())
    }

    /// The 32 hexadecimal digits of the text as a number.
    pub(crate) fn as_u128(&self) -> u128 {
        self.0.as_u128()
    }

    pub(crate) fn bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text cannot be read as what was expected, such as an id, a digest or a cursor. Its
/// `Display` says how that is written.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidText(pub(crate) String);

impl FromStr for Id {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        text.parse().map(Self).map_err(|_| {
            let text = shortened(text);
            InvalidText(format!(
                "`{text}` is not a valid id; ids look like 01890a5d-ac96-774b-bcce-b302099a8057"
            ))
        })
    }
}

/// Unguessable text of 192 random bits.
#[cfg(feature = "store")]
pub(crate) fn unguessable() -> Result<String, getrandom::Error> {
    use fmt::Write;

    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    let mut text = String::with_capacity(48);
    for byte in bytes {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Text from outside for an error: at most 40 characters, all of them visible.
#[must_use]
pub fn shortened(text: &str) -> String {
    shortened_to(text, 40)
}

/// Text from outside for an error: at most `longest` characters, all of them visible.
pub(crate) fn shortened_to(text: &str, longest: usize) -> String {
    let mut short = String::new();
    let marks = Illegible::of(text);
    for (position, character) in text.chars().enumerate() {
        if position == longest {
            short.push('…');
            break;
        }
        if marks.has(position) {
            short.extend(character.escape_default());
        } else {
            short.push(character);
        }
    }
    short
}
