use std::{borrow::Cow, sync::Arc};

use super::{Digest, Due, Entry, Fact, Payload};
use crate::{
    clock::{self, Millis},
    definition::{Definition, Edge, Fingerprint},
    id::Id,
    typed::{Deadline, Reason},
};

/// The journal of one machine: the committed entries, then the uncommitted ones.
#[derive(Debug)]
pub struct Journal {
    id: Id,
    definition: Fingerprint,
    epoch: u64,
    committed_epoch: u64,
    committed: usize,
    entries: Vec<Entry>,
    /// The definitions that entries were written under, other than the program's own.
    older: Vec<Arc<Definition>>,
    unwritable: Option<String>,
}

/// Only this library can make one. It guards methods that could rewrite history.
#[derive(Debug, Clone, Copy)]
#[allow(unreachable_pub, reason = "it is in the signature of a public, hidden method")]
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
            deadlines: Vec::new(),
        };
        journal.append(actor.map(|actor| Cow::Owned(actor.to_owned())), fact);
        journal
    }

    /// Starts the deadlines of the initial state. Called right after `create`.
    #[doc(hidden)]
    pub fn __created(
        &mut self,
        definition: &'static Definition,
        started: &[(usize, Option<Deadline>)],
    ) {
        let Some(first) = self.entries.first_mut() else { return };
        if let Fact::Created { deadlines, .. } = &mut first.fact {
            start(definition, deadlines, started);
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
        started: &[(usize, Option<Deadline>)],
    ) {
        let edge = &definition.edges[edge];
        let (payload, error) = payload.finish();
        if let Some(error) = error {
            self.unwritable.get_or_insert(error);
        }
        let mut deadlines = self.kept(definition, edge);
        start(definition, &mut deadlines, started);
        let fact = Fact::Moved {
            from: definition.states[edge.from].name.clone(),
            to: definition.states[edge.to].name.clone(),
            trigger: edge.trigger.clone(),
            payload,
            deadlines,
        };
        self.append(actor.map(Cow::Borrowed), fact);
    }

    /// The deadlines that keep running along this edge: those of the groups that it stays in.
    fn kept(&self, definition: &Definition, edge: &Edge) -> Vec<Due> {
        let mut kept = Vec::new();
        for due in self.deadlines() {
            let Some(group) = group_of(definition, due) else { continue };
            let members = &definition.groups[group].states;
            if members.contains(&edge.from) && members.contains(&edge.to) {
                let mut leaving = definition.leaving(edge.to);
                let paused = !leaving.any(|after| fires(definition, after, due));
                kept.push(Due { paused, ..due.clone() });
            }
        }
        kept
    }

    /// A journal from verified entries. The first `committed` are on disk.
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
        // Timestamps must not decrease, even if the clock went back.
        let at = self.entries.last().map_or(clock::now(), |last| last.at.max(clock::now()));
        let number = self.entries.len();
        let definition = self.definition;
        let digest = Digest::ZERO;
        self.entries.push(Entry { number: number as u64, at, actor, definition, fact, digest });
        self.digest_from(number);
    }

    /// Recomputes the digests from this entry on.
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

    /// Makes the deadlines that were started since the last commit absolute, counted from `now`. A
    /// retried commit counts from the retry.
    pub(crate) fn make_deadlines_absolute(&mut self, now: Millis) {
        let mut changed = false;
        for entry in &mut self.entries[self.committed..] {
            for due in deadlines_of(entry) {
                // One that was running at the last commit keeps its time.
                if due.fresh || due.due_at.is_none() {
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

    /// Why the deadline of an edge cannot fire at `now`; `None` if it can.
    #[doc(hidden)]
    #[must_use]
    pub fn __not_due(
        &self,
        definition: &'static Definition,
        edge: usize,
        now: Millis,
    ) -> Option<Reason> {
        let edge = &definition.edges[edge];
        let mut running = self.deadlines().iter();
        match running.find(|due| fires(definition, edge, due)).map(|due| (due.due_at, due.after_ms))
        {
            None => Some(Reason::NoDeadline),
            Some((None, after_ms)) => Some(Reason::NotDue(after_ms)),
            Some((Some(due_at), _)) if due_at > now => Some(Reason::NotDue(due_at.abs_diff(now))),
            Some(_) => None,
        }
    }

    /// The deadlines that are running.
    #[must_use]
    pub fn deadlines(&self) -> &[Due] {
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

    /// The fencing epoch: the number of times a worker was fenced. Starts at 0.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The number of entries on disk.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.committed as u64
    }

    /// All entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The uncommitted entries.
    #[must_use]
    pub fn uncommitted(&self) -> &[Entry] {
        &self.entries[self.committed..]
    }

    /// The digest of the newest entry; it covers the whole journal.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.entries.last().map_or(Digest::ZERO, |entry| entry.digest)
    }

    /// The epoch on disk.
    pub(crate) fn committed_epoch(&self) -> u64 {
        self.committed_epoch
    }

    pub(crate) fn unwritable(&self) -> Option<&str> {
        self.unwritable.as_deref()
    }

    pub(crate) fn mark_committed(&mut self) {
        for entry in &mut self.entries[self.committed..] {
            for due in deadlines_of(entry) {
                due.fresh = false;
            }
        }
        self.committed = self.entries.len();
        self.committed_epoch = self.epoch;
    }
}

/// The deadlines that are running after the last of these entries.
fn deadlines_in(entries: &[Entry]) -> &[Due] {
    let mut newest_first = entries.iter().rev();
    let running = newest_first.find_map(|entry| match &entry.fact {
        Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => Some(deadlines),
        _ => None,
    });
    running.map_or(&[], Vec::as_slice)
}

fn deadlines_of(entry: &mut Entry) -> &mut [Due] {
    match &mut entry.fact {
        Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => deadlines,
        _ => &mut [],
    }
}

/// The group that a deadline runs in. If the definition has no group of that name, it may have been
/// renamed; then the trigger identifies it.
fn group_of(definition: &Definition, due: &Due) -> Option<usize> {
    let name = due.group.as_ref()?;
    let known = definition.groups.iter().position(|group| group.name == *name);
    let by_trigger = || {
        let mut edges = definition.edges.iter();
        edges.find_map(|edge| edge.deadline.as_ref()?.group.filter(|_| is_called(edge, due)))
    };
    known.or_else(by_trigger)
}

/// Whether this deadline fires this edge.
fn fires(definition: &Definition, edge: &Edge, due: &Due) -> bool {
    let Some(deadline) = &edge.deadline else { return false };
    is_called(edge, due) && deadline.group == group_of(definition, due)
}

fn is_called(edge: &Edge, due: &Due) -> bool {
    edge.trigger == due.trigger || edge.was.contains(&due.trigger)
}

/// Adds the started deadlines, given with the edges that they fire.
fn start(
    definition: &'static Definition,
    deadlines: &mut Vec<Due>,
    started: &[(usize, Option<Deadline>)],
) {
    for (edge, deadline) in started {
        let Some(deadline) = deadline else { continue };
        let edge = &definition.edges[*edge];
        let group = edge.deadline.as_ref().and_then(|deadline| deadline.group);
        deadlines.push(Due {
            trigger: edge.trigger.clone(),
            group: group.map(|group| definition.groups[group].name.clone()),
            after_ms: u64::try_from(deadline.after.as_millis()).unwrap_or(u64::MAX),
            due_at: None,
            paused: false,
            fresh: true,
        });
    }
}
