use std::borrow::Cow;

use super::{Digest, DigestKey};
use crate::{clock::Millis, definition::Fingerprint};

/// A journal entry as a store keeps it: names that the definition knows are numbers, and the rest
/// of the fact is one text, which is made once and never again changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<A = Cow<'static, str>, B = String> {
    /// The position in this machine's journal, from 0.
    pub(crate) number: u64,
    pub(crate) at: Millis,
    pub(crate) actor: Option<A>,
    /// The definition that the entry was written under.
    pub(crate) definition: Fingerprint,
    pub(crate) kind: EntryKind,
    /// The edge of the definition, if it is a transition.
    pub(crate) edge: Option<u32>,
    /// Everything beyond the columns, as canonical JSON.
    pub(crate) body: Option<B>,
    /// Covers this line and, through the digest before it, all lines before it.
    pub(crate) digest: Digest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Created = 0,
    Moved = 1,
    Fenced = 2,
    Recorded = 3,
}

impl EntryKind {
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Created, Self::Moved, Self::Fenced, Self::Recorded]
            .into_iter()
            .find(|kind| *kind as i64 == number)
    }
}

pub(crate) type LineRef<'a> = Line<&'a str, &'a str>;

impl LineRef<'_> {
    pub(crate) fn to_line(self) -> Line {
        Line {
            number: self.number,
            at: self.at,
            actor: self.actor.map(|actor| Cow::Owned(actor.to_owned())),
            definition: self.definition,
            kind: self.kind,
            edge: self.edge,
            body: self.body.map(str::to_owned),
            digest: self.digest,
        }
    }
}

impl<A: AsRef<str>, B: AsRef<str>> Line<A, B> {
    /// The digest of this line after a line with the digest `previous`.
    pub(crate) fn expected_digest(&self, key: &DigestKey, previous: &Digest) -> Digest {
        let edge = self.edge.map(u32::to_le_bytes);
        key.digest(&[
            previous.bytes(),
            &self.number.to_le_bytes(),
            &self.at.to_le_bytes(),
            &self.definition.0.to_le_bytes(),
            &[u8::from(self.actor.is_some())],
            self.actor.as_ref().map_or("", AsRef::as_ref).as_bytes(),
            &[self.kind as u8],
            edge.as_ref().map_or(&[], <[u8; 4]>::as_slice),
            &[u8::from(self.body.is_some())],
            self.body.as_ref().map_or("", AsRef::as_ref).as_bytes(),
        ])
    }
}
