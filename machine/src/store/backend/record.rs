use crate::{
    id::Id,
    journal::{Digest, DigestKey},
};

/// Data that belong to no machine, such as a turn in the queue of its agent. A record is never
/// deleted, and its kind and its id never change. Sealed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// What it is, such as `turn`.
    pub(crate) kind: String,
    /// Its id among the records of this kind.
    pub(crate) id: Id,
    /// The number of its writes. A write takes effect only on the version before (compare-and-set);
    /// the first one creates it.
    pub(crate) version: u64,
    /// The list of this kind that has it, such as the queue of an agent.
    pub(crate) list: Option<String>,
    pub(crate) body: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Records {
    /// Those of these kinds with these ids, in this order. Unknown ones are left out.
    Of(Vec<(&'static str, Id)>),
    /// Those of this kind that are in this list, in the order in which they were created: at
    /// most `limit`, after the record `after`.
    Listed { kind: &'static str, list: String, after: Option<Id>, limit: usize },
    /// All records, in the order in which they were created.
    #[cfg(test)]
    All,
    /// Those that were edited by hand.
    Broken,
}

impl Record {
    pub(crate) fn seal(&self, key: &DigestKey) -> Digest {
        key.digest(&[
            b"record",
            self.kind.as_bytes(),
            self.id.bytes(),
            &self.version.to_le_bytes(),
            &[u8::from(self.list.is_some())],
            self.list.as_deref().unwrap_or_default().as_bytes(),
            self.body.as_bytes(),
        ])
    }
}
