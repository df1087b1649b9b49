//! Pruning as a backend sees it: the machines, and the remains of their journals.

use crate::{
    id::Id,
    journal::{Digest, DigestKey},
    store::backend::{Broken, Sequenced},
};

/// A machine to prune, if it is still as it was when that was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: Id,
    pub(crate) version: u64,
}

/// A part of the data that the chain over the whole journal covers.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every link is a line")]
pub(crate) enum Link {
    Line(Sequenced),
    Pruned(u64, Result<PrunedLine, Broken>),
}

impl Link {
    pub(crate) fn seq(&self) -> u64 {
        match self {
            Self::Line(line) => line.seq,
            Self::Pruned(seq, _) => *seq,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrunedLine {
    pub(crate) digest: Digest,
    pub(crate) chain: Option<Digest>,
    /// It opened an attempt, which is kept: the attempt's token is the sequence number of the line.
    pub(crate) opened: bool,
}

impl PrunedLine {
    /// Shows that the line was pruned by a store, and not removed by an edit.
    pub(crate) fn seal(&self, key: &DigestKey, seq: u64) -> Digest {
        let chain = self.chain.as_ref().map_or(&[][..], |chain| chain.bytes());
        key.digest(&[
            b"pruned",
            &seq.to_le_bytes(),
            self.digest.bytes(),
            chain,
            &[u8::from(self.opened)],
        ])
    }
}
