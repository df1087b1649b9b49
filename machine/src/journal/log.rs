use std::{borrow::Cow, sync::Arc};

use super::{Deadlines, Digest, Due, Entry, Fact, Payload};
use crate::{
    clock::{self, Millis},
    definition::{Definition, Edge, Fingerprint},
    id::Id,
    typed::{Deadline, Reason},
};

/// The journal of one machine: the entries on disk, then those that wait for a commit.
#[derive(Debug)]
pub struct Journal {
    id: Id,
    definition: Fingerprint,
    epoch: u64,
    committed_epoch: u64,
    committed: usize,
    entries: Vec<Entry>,
    /// What entries were written under, where that is not the program's own definition.
    older: Vec<Arc<Definition>>,
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
            definition: definition.fingerprint,
            epoch: 0,
            committed_epoch: 0,
            committed: 0,
            entries: Vec::new(),
            older: Vec::new(),
            unwritable: None,
        };
        let fact = Fact::Created {
            machine: definition.name.clone(),
            state: definition.states[definition.initial].name.clone(),
            deadlines: Deadlines::new(),
        };
        journal.append(actor.map(|actor| Cow::Owned(actor.to_owned())), fact);
        journal
    }

    /// Starts the deadlines of the initial state. Called right after the creation.
    #[doc(hidden)]
    pub fn __created(&mut self, started: &[Option<Deadline>]) {
        let Some(first) = self.entries.first_mut() else { return };
        if let Fact::Created { deadlines, .. } = &mut first.fact {
            start(deadlines, started);
        }
        self.digest_from(0);
    }

    /// Records the transition along an edge of the definition, and the deadlines that it starts.
    #[doc(hidden)]
    pub fn __moved(
        &mut self,
        definition: &'static Definition,
        edge: usize,
        actor: Option<&'static str>,
        payload: Payload,
        started: &[Option<Deadline>],
    ) {
        let edge = &definition.edges[edge];
        let (payload, error) = payload.finish();
        if let Some(error) = error {
            self.unwritable.get_or_insert(error);
        }
        let mut deadlines = self.kept(definition, edge);
        start(&mut deadlines, started);
        let fact = Fact::Moved {
            from: definition.states[edge.from].name.clone(),
            to: definition.states[edge.to].name.clone(),
            trigger: edge.trigger.clone(),
            payload,
            deadlines,
        };
        self.append(actor.map(Cow::Borrowed), fact);
    }

    /// The deadlines that go on along this edge: those of the groups that it stays in.
    fn kept(&self, definition: &'static Definition, edge: &Edge) -> Deadlines {
        let running = self.deadlines();
        if running.is_empty() {
            return Deadlines::new();
        }
        let mut kept = Deadlines::new();
        for after in definition.leaving(edge.to) {
            let group = after.deadline.as_ref().and_then(|deadline| deadline.group);
            let stays = group.is_some_and(|group| {
                let members = &definition.groups[group].states;
                members.contains(&edge.from) && members.contains(&edge.to)
            });
            if stays && let Some(due) = find(running, after) {
                kept.insert(after.trigger.clone(), *due);
            }
        }
        kept
    }

    /// Takes over entries whose chain was verified. The first `committed` are on disk.
    pub(crate) fn restored(
        id: Id,
        definition: Fingerprint,
        epoch: u64,
        committed: usize,
        entries: Vec<Entry>,
        older: Vec<Arc<Definition>>,
    ) -> Self {
        let fences = entries.iter().take(committed);
        let fences = fences.filter(|entry| matches!(entry.fact, Fact::Fenced { .. }));
        let committed_epoch = fences.count() as u64;
        Self { id, definition, epoch, committed_epoch, committed, entries, older, unwritable: None }
    }

    pub(crate) fn append(&mut self, actor: Option<Cow<'static, str>>, fact: Fact) {
        if let Fact::Fenced { epoch, .. } = &fact {
            self.epoch = *epoch;
        }
        // A clock that went back must not make the journal go back.
        let at = self.entries.last().map_or(clock::now(), |last| last.at.max(clock::now()));
        let number = self.entries.len();
        let definition = self.definition;
        let digest = Digest::ZERO;
        self.entries.push(Entry { number: number as u64, at, actor, definition, fact, digest });
        self.digest_from(number);
    }

    /// Computes the digests from this entry on.
    fn digest_from(&mut self, first: usize) {
        let mut head = first.checked_sub(1).map_or(Digest::ZERO, |last| self.entries[last].digest);
        for entry in &mut self.entries[first..] {
            match entry.body() {
                Ok(body) => entry.digest = entry.expected_digest(&head, &body),
                Err(error) => {
                    self.unwritable.get_or_insert(error.to_string());
                }
            }
            head = entry.digest;
        }
    }

    /// Makes the deadlines absolute that were started since the last commit, counted from `now`.
    /// A commit that is tried again counts anew.
    pub(crate) fn make_deadlines_absolute(&mut self, now: Millis) {
        let (committed, uncommitted) = self.entries.split_at_mut(self.committed);
        let running = deadlines_in(committed);
        let mut changed = false;
        for entry in uncommitted {
            let (Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. }) = &mut entry.fact
            else {
                continue;
            };
            for (trigger, due) in deadlines {
                if running.get(trigger) != Some(&*due) || due.due_at.is_none() {
                    let after = Millis::try_from(due.after_ms).unwrap_or(Millis::MAX);
                    due.due_at = Some(now.saturating_add(after));
                    changed = true;
                }
            }
        }
        if changed {
            self.digest_from(self.committed);
        }
    }

    /// Why a deadline cannot fire at `now`; `None` when it can.
    #[doc(hidden)]
    #[must_use]
    pub fn __not_due(&self, edge: &Edge, now: Millis) -> Option<Reason> {
        let Some(due) = find(self.deadlines(), edge) else { return Some(Reason::NoDeadline) };
        match due.due_at {
            None => Some(Reason::NotDue(due.after_ms)),
            Some(due_at) if due_at > now => Some(Reason::NotDue(due_at.abs_diff(now))),
            Some(_) => None,
        }
    }

    /// The deadlines that are running, by trigger.
    #[must_use]
    pub fn deadlines(&self) -> &Deadlines {
        deadlines_in(&self.entries)
    }

    /// The definitions, other than the program's own, that entries were written under.
    pub(crate) fn older(&self) -> &[Arc<Definition>] {
        &self.older
    }

    /// The machine's identity.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }

    /// The fencing epoch: how many times a worker was shut out. Starts at 0.
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

/// The deadlines that are running after the last of these entries.
fn deadlines_in(entries: &[Entry]) -> &Deadlines {
    static NONE: Deadlines = Deadlines::new();
    let mut newest_first = entries.iter().rev();
    let running = newest_first.find_map(|entry| match &entry.fact {
        Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => Some(deadlines),
        _ => None,
    });
    running.unwrap_or(&NONE)
}

/// The deadline of an edge, under the name of its trigger or an older one.
fn find<'a>(running: &'a Deadlines, edge: &Edge) -> Option<&'a Due> {
    running.get(&edge.trigger).or_else(|| edge.was.iter().find_map(|old| running.get(old)))
}

fn start(deadlines: &mut Deadlines, started: &[Option<Deadline>]) {
    for deadline in started.iter().flatten() {
        let after_ms = u64::try_from(deadline.after.as_millis()).unwrap_or(u64::MAX);
        deadlines.insert(Cow::Borrowed(deadline.trigger), Due { after_ms, due_at: None });
    }
}
