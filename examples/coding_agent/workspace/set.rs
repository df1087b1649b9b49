use std::{
    fmt,
    io::{self, Read},
    str::FromStr,
};

use blake3::{Hash, Hasher, HexError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    place::Place,
    refusal::{At, Refusal},
};

/// The digest of the bytes of a file, or of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(Hash);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }

    /// The digest of a call, which the confirmation of a person names.
    pub fn of_call(call: &impl Serialize) -> Result<Self, Refusal> {
        serde_json::to_vec(call).map(|json| Self::of(&json)).at("the call")
    }

    /// The digest of all that can be read.
    pub fn of_reader(reader: impl Read) -> io::Result<Self> {
        Ok(Self(Hasher::new().update_reader(reader)?.finalize()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0.to_hex())
    }
}

impl FromStr for Digest {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        Hash::from_hex(text).map(Self)
    }
}

impl TryFrom<String> for Digest {
    type Error = HexError;

    fn try_from(text: String) -> Result<Self, HexError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A regular file: its bytes, and its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    pub digest: Digest,
    pub mode: u32,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    Nothing,
    File(Image),
    /// A folder, a link, or anything else that is not a regular file that can be read.
    Other,
}

impl From<Option<Image>> for Found {
    fn from(image: Option<Image>) -> Self {
        image.map_or(Self::Nothing, Self::File)
    }
}

/// A side of a change, or what a person has put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
    Person,
}

/// The change of one path: a new file has no image before, and a deleted one none after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub path: Place,
    /// The path that the new file was moved from.
    pub from: Option<Place>,
    pub before: Option<Image>,
    pub after: Option<Image>,
}

impl Change {
    pub fn image(&self, side: Side) -> Found {
        if side == Side::After { self.after.into() } else { self.before.into() }
    }
}

/// Changes that are made together or not at all: the arguments of the call, which a person
/// approves. The contents are in the store, by digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditSet {
    pub changes: Vec<Change>,
}

/// How a set ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Applied,
    /// Every path is as it was, apart from what a person did.
    NotApplied,
    /// A path that was written is neither as before nor as after: a person looks at it.
    InDoubt,
}

/// A path that a person changed at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub path: Place,
    pub found: Found,
    /// The file in the folder `kept` of the store that has what is not at the path.
    pub kept: Option<String>,
}

/// How a set ended, as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub number: usize,
    pub ending: Ending,
    pub conflicts: Vec<Conflict>,
}
