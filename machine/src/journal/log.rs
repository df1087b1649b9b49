use std::borrow::Cow;

use super::{Digest, Entry, Fact, Payload};
use crate::{clock, definition::Definition, id::Id};

/// The journal of one machine: the entries on disk, then those that wait for a commit.
#[derive(Debug)]
pub struct Journal {
    id: Id,
    epoch: u64,
    committed_epoch: u64,
    committed: usize,
    entries: Vec<Entry>,
    unwritable: Option<String>,
}

/// Only this library can make one. It guards what would let a user's code rewrite history.
#[derive(Debug, Clone, Copy)]
#[allow(unreachable_pub, reason = "it stands in the signature of a public, hidden method")]
pub struct Pass(());

impl Pass {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

impl Journal {
    /// Starts the journal of a new machine.
    pub(crate) fn create(definition: &'static Definition, actor: Option<&str>) -> Self {
        let mut journal = Self {
            id: Id::fresh(),
            epoch: 0,
            committed_epoch: 0,
            committed: 0,
            entries: Vec::new(),
            unwritable: None,
        };
        let fact = Fact::Created {
            machine: Cow::Borrowed(definition.name),
            fingerprint: definition.fingerprint.to_string(),
            state: Cow::Borrowed(definition.states[definition.initial].name),
        };
        journal.append(actor.map(|actor| Cow::Owned(actor.to_owned())), fact);
        journal
    }

    /// Records the transition along an edge of the definition.
    #[doc(hidden)]
    pub fn __moved(
        &mut self,
        definition: &'static Definition,
        edge: usize,
        actor: Option<&'static str>,
        payload: Payload,
    ) {
        let edge = &definition.edges[edge];
        let (payload, error) = payload.finish();
        if let Some(error) = error {
            self.unwritable.get_or_insert(error);
        }
        let fact = Fact::Moved {
            from: Cow::Borrowed(definition.states[edge.from].name),
            to: Cow::Borrowed(definition.states[edge.to].name),
            trigger: Cow::Borrowed(edge.trigger),
            payload,
        };
        self.append(actor.map(Cow::Borrowed), fact);
    }

    /// Takes over entries whose chain was verified. The first `committed` are on disk.
    pub(crate) fn restored(id: Id, epoch: u64, committed: usize, entries: Vec<Entry>) -> Self {
        let fences = entries.iter().take(committed);
        let fences = fences.filter(|entry| matches!(entry.fact, Fact::Fenced { .. }));
        let committed_epoch = fences.count() as u64;
        Self { id, epoch, committed_epoch, committed, entries, unwritable: None }
    }

    pub(crate) fn append(&mut self, actor: Option<Cow<'static, str>>, fact: Fact) {
        if let Fact::Fenced { epoch, .. } = &fact {
            self.epoch = *epoch;
        }
        // A clock that went back must not make the journal go back.
        let at = self.entries.last().map_or(clock::now(), |last| last.at.max(clock::now()));
        let number = self.entries.len() as u64;
        let mut entry = Entry { number, at, actor, fact, digest: Digest::ZERO };
        match entry.body() {
            Ok(body) => entry.digest = entry.expected_digest(&self.head(), &body),
            Err(error) => {
                self.unwritable.get_or_insert(error.to_string());
            }
        }
        self.entries.push(entry);
    }

    /// The machine's identity.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }

    /// How often whoever worked on this machine was shut out. Starts at 0.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The number of entries that are on disk.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.committed as u64
    }

    /// All entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries that no commit has written yet.
    #[must_use]
    pub fn uncommitted(&self) -> &[Entry] {
        &self.entries[self.committed..]
    }

    /// The digest of the newest entry; it covers the whole journal.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.entries.last().map_or(Digest::ZERO, |entry| entry.digest)
    }

    /// The epoch that is on disk.
    pub(crate) fn committed_epoch(&self) -> u64 {
        self.committed_epoch
    }

    pub(crate) fn unwritable(&self) -> Option<&str> {
        self.unwritable.as_deref()
    }

    pub(crate) fn mark_committed(&mut self) {
        self.committed = self.entries.len();
        self.committed_epoch = self.epoch;
    }
}
