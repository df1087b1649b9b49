use std::{borrow::Cow, sync::Arc};

use super::{Digest, DigestKey, Due, Entry, Fact, Line, Payload, Summary};
use crate::{
    actor::who::Who,
    clock::{self, Millis},
    definition::{Definition, Edge, Fingerprint},
    id::Id,
    typed::{Deadline, Reason},
};

/// The journal of one machine: a summary of what is stored, and the entries since then.
#[derive(Debug, Clone)]
pub struct Journal {
    id: Id,
    definition: Fingerprint,
    stored: StoredState,
    epoch: u64,
    /// The entries that are not stored yet.
    entries: Vec<Entry>,
    /// The definitions that these were written under, other than the program's own.
    older: Vec<Arc<Definition>>,
    unwritable: Option<String>,
    /// It was read from data that is not this program's.
    pub(crate) imported: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct StoredState {
    /// The number of entries; 0 if the machine was never stored.
    pub(crate) version: u64,
    pub(crate) epoch: u64,
    /// The digest of the newest entry.
    pub(crate) head: Digest,
    pub(crate) summary: Summary,
    /// The store. The machine cannot be committed to another one.
    pub(crate) store: Option<Id>,
    /// The context is on disk as this program writes it.
    pub(crate) context: bool,
    /// A commit with this id was sent, and its outcome is unknown.
    pub(crate) commit_id: Option<i64>,
    /// The identifying columns of the machine, as its row has them.
    pub(crate) fixed: Option<Arc<Fixed>>,
    /// The status of the machine that it is behind, when it was read; `None` if that is not known.
    pub(crate) gate: Option<String>,
}

/// The columns of a machine's row that never change.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
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

impl StoredState {
    pub(crate) const NEVER: Self = Self {
        version: 0,
        epoch: 0,
        head: Digest::ZERO,
        summary: Summary::NEW,
        store: None,
        context: false,
        commit_id: None,
        fixed: None,
        gate: None,
    };
}

impl Journal {
    pub(crate) fn create(
        id: Id,
        definition: &'static Definition,
        author: (Option<&str>, Option<&str>),
    ) -> Self {
        let mut journal = Self::of_stored(id, definition.fingerprint, StoredState::NEVER);
        let fact = Fact::Created {
            machine: definition.name.clone(),
            state: definition.states[definition.initial].name.clone(),
            deadlines: Vec::new(),
        };
        let (actor, by) = author;
        journal.push(actor.map(|actor| Cow::Owned(actor.to_owned())), by, fact);
        journal
    }

    pub(crate) fn of_stored(id: Id, definition: Fingerprint, stored: StoredState) -> Self {
        let (entries, older) = (Vec::new(), Vec::new());
        let epoch = stored.epoch;
        Self { id, definition, epoch, stored, entries, older, unwritable: None, imported: false }
    }

    /// A journal from verified entries, none of which is in a store.
    pub(crate) fn of_entries(
        id: Id,
        definition: Fingerprint,
        epoch: u64,
        entries: Vec<Entry>,
        older: Vec<Arc<Definition>>,
    ) -> Self {
        let new = Self::of_stored(id, definition, StoredState::NEVER);
        Self { epoch, entries, older, imported: true, ..new }
    }

    /// Starts the deadlines of the initial state. Called right after `create`.
    pub(crate) fn created(
        &mut self,
        definition: &'static Definition,
        started: &[(usize, Option<Deadline>)],
    ) {
        let Some(first) = self.entries.first_mut() else { return };
        if let Fact::Created { deadlines, .. } = &mut first.fact {
            start(definition, deadlines, started);
        }
    }

    /// Records the transition along an edge of the definition, and the deadlines that it starts;
    /// `None` if it stays in its state.
    pub(crate) fn moved(
        &mut self,
        definition: &'static Definition,
        edge: usize,
        by: Option<Who<'_>>,
        payload: Payload,
        started: Option<&[(usize, Option<Deadline>)]>,
    ) {
        let edge = &definition.edges[edge];
        let (payload, error) = payload.finish();
        if let Some(error) = error {
            self.unwritable.get_or_insert(error);
        }
        let stays = started.is_none();
        let mut deadlines = self.kept(definition, edge, stays);
        start(definition, &mut deadlines, started.unwrap_or_default());
        let fact = Fact::Moved {
            from: definition.states[edge.from].name.clone(),
            to: definition.states[edge.to].name.clone(),
            trigger: edge.trigger.clone(),
            stays,
            payload,
            deadlines,
        };
        self.append(by, fact);
    }

    /// The deadlines that keep running along this edge: those of the groups that it stays in and,
    /// if it stays in its state, those of the state. The one that fires it is over.
    fn kept(&self, definition: &Definition, edge: &Edge, stays: bool) -> Vec<Due> {
        let mut kept = Vec::new();
        for due in self.deadlines().iter().filter(|due| !due.fires(definition, edge)) {
            let fires_later = definition.leaving(edge.to).any(|after| due.fires(definition, after));
            let group = definition.group_of(&due.trigger, due.group.as_deref());
            match group.map(|group| &definition.groups[group].states) {
                Some(members) if members.contains(&edge.from) && members.contains(&edge.to) => {
                    kept.push(Due { paused: !fires_later, ..due.clone() });
                }
                None if stays && fires_later => kept.push(due.clone()),
                _ => {}
            }
        }
        kept
    }

    pub(crate) fn append(&mut self, by: Option<Who<'_>>, fact: Fact) {
        let (kind, name) = (by.map(|by| Cow::Borrowed(by.kind)), by.and_then(|by| by.name));
        self.push(kind, name, fact);
    }

    fn push(&mut self, actor: Option<Cow<'static, str>>, by: Option<&str>, fact: Fact) {
        if let Fact::Fenced { epoch, .. } = &fact {
            self.epoch = *epoch;
        }
        // The commit sets it again, by the clock of the store.
        let at = clock::now();
        let number = self.stored.version + self.entries.len() as u64;
        let definition = self.definition;
        let by = by.map(Box::from);
        let (digest, made_at) = (None, None);
        self.entries.push(Entry { number, at, actor, by, definition, fact, digest, made_at });
    }

    /// Gives the entries since the last commit the time `now` of the store's clock, and makes the
    /// deadlines that they start absolute, counted from it. A retried commit counts from the retry.
    pub(crate) fn set_times(&mut self, now: Millis) {
        // A commit that may be on disk must stay as it was sent.
        let sent = self.stored.commit_id.is_some();
        // The clock may have gone back: entries are in the order of their numbers. Those that were
        // imported have a digest.
        for entry in self.entries.iter_mut().filter(|entry| entry.digest.is_none()) {
            if !(sent && entry.made_at.is_some()) {
                entry.made_at.get_or_insert(entry.at);
                entry.at = now;
            }
        }
        for due in self.entries.iter_mut().flat_map(deadlines_of) {
            // One that was running at the last commit keeps its time.
            if due.due_at.is_none() || due.fresh && !sent {
                let after = Millis::try_from(due.after_ms).unwrap_or(Millis::MAX);
                due.due_at = Some(now.saturating_add(after));
            }
        }
    }

    /// Takes the times of the commit back, because it was not written.
    pub(crate) fn forget_times(&mut self) {
        for entry in &mut self.entries {
            entry.at = entry.made_at.take().unwrap_or(entry.at);
        }
        for due in self.entries.iter_mut().flat_map(deadlines_of) {
            if due.fresh {
                due.due_at = None;
            }
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
        match running.find(|due| due.fires(definition, edge)).map(|due| (due.due_at, due.after_ms))
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
        let mut newest_first = self.entries.iter().rev();
        let running = newest_first.find_map(|entry| match &entry.fact {
            Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => Some(deadlines),
            _ => None,
        });
        running.unwrap_or(&self.stored.summary.deadlines)
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

    /// The number of entries in the store; 0 if the machine was never stored.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.stored.version
    }

    /// The entries that are not stored yet, oldest first. The others are in the store: see
    /// `Store::history`.
    #[must_use]
    pub fn uncommitted(&self) -> &[Entry] {
        &self.entries
    }

    /// The summary of the past, including the entries that are not stored yet.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.past().into_owned()
    }

    /// The summary without a copy, if everything is stored.
    pub(crate) fn past(&self) -> Cow<'_, Summary> {
        let mut summary = Cow::Borrowed(&self.stored.summary);
        self.entries.iter().for_each(|entry| summary.to_mut().add(entry));
        summary
    }

    pub(crate) fn stored(&self) -> &StoredState {
        &self.stored
    }

    /// Remembers the id of a commit whose outcome is unknown.
    pub(crate) fn set_commit_id(&mut self, commit_id: Option<i64>) {
        self.stored.commit_id = commit_id;
    }

    /// The definitions, other than the program's own, that entries were written under.
    pub(crate) fn older(&self) -> &[Arc<Definition>] {
        &self.older
    }

    pub(crate) fn unwritable(&self) -> Option<&str> {
        self.unwritable.as_deref()
    }

    /// The entries that are not stored yet, as lines. `own` is the program's definition.
    pub(crate) fn lines(&self, own: &Definition, key: &DigestKey) -> Result<Vec<Line>, String> {
        let mut head = self.stored.head;
        let mut lines = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let older = self.older.iter().find(|older| older.fingerprint == entry.definition);
            let line = entry.to_line(older.map_or(own, |older| &**older), key, &head)?;
            head = line.digest;
            lines.push(line);
        }
        Ok(lines)
    }

    /// Everything up to here is on disk.
    pub(crate) fn mark_stored(&mut self, stored: StoredState) {
        self.entries.clear();
        self.older.clear();
        self.stored = stored;
    }
}

fn deadlines_of(entry: &mut Entry) -> &mut [Due] {
    match &mut entry.fact {
        Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => deadlines,
        _ => &mut [],
    }
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
            after_ms: clock::millis(deadline.after),
            due_at: deadline.at,
            paused: false,
            // A point in time is not counted from the commit.
            fresh: deadline.at.is_none(),
        });
    }
}
