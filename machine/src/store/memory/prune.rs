use std::collections::BTreeSet;

use super::{MachineRow, Tables, calls::entered};
use crate::{
    id::Id,
    store::{
        inbox::{message::Delivery, outcome::outcome_of},
        upkeep::pruning::{Candidate, Link, PrunedLine},
        write::under_way::CALLS,
    },
};

impl Tables {
    /// Prunes what may be pruned; returns the number of entries of each, `None` if it is still
    /// needed.
    pub(super) fn prune(&mut self, prune: &[Candidate]) -> Vec<Option<u64>> {
        let one = |candidate: &Candidate| {
            let removed = self.is_prunable(*candidate).then_some(candidate.version);
            if removed.is_some() {
                self.remove(candidate.id);
            }
            removed
        };
        prune.iter().map(one).collect()
    }

    /// Returns whether a machine has ended, is as it was found, and nothing needs it.
    fn is_prunable(&self, candidate: Candidate) -> bool {
        let id = candidate.id;
        let stored = self.find(id).filter(|it| it.row.ended && it.row.version == candidate.version);
        let Some(stored) = stored else { return false };
        let is_newest = self.machines.last().is_some_and(|newest| newest.row.id == id)
            || self.newest_of(stored) == self.newest();
        let lives = |it: &MachineRow| !it.row.ended;
        let is_alive = |id: &Id| self.find(*id).is_some_and(lives);
        let is_awaited = self.machines.iter().any(|it| it.row.behind == Some(id) && lives(it));
        let mut attempts = self.attempts.values().flatten().filter(|attempt| attempt.by == id);
        !is_newest
            && !is_awaited
            && (!self.ancestors(id).iter().any(is_alive) || self.is_over(stored))
            && !self.descendants(id).iter().any(is_alive)
            && !attempts.any(|attempt| attempt.worker.is_some())
    }

    /// Returns whether a machine that has ended is a call, and over for its parent.
    fn is_over(&self, call: &MachineRow) -> bool {
        let id = call.row.id;
        let kinship = self.works.parents.get(&id).filter(|_| call.row.machine == CALLS);
        let parent = kinship.and_then(|kinship| Some((kinship, self.find(kinship.parent)?)));
        parent.is_some_and(|(kinship, parent)| {
            let is_taken = self.outcome(parent.row.id, id) == Some(Delivery::Handled);
            kinship.is_over(entered(&parent.row), is_taken)
        })
    }

    /// Forgets the outcome of a call that its parent has taken.
    fn forget_outcome(&mut self, call: Id) {
        let Some(parent) = self.works.parents.get(&call).map(|it| it.parent) else { return };
        if self.outcome(parent, call) == Some(Delivery::Handled) {
            let correlation = outcome_of(call);
            self.works.messages.retain(|it| !it.is(parent, &correlation));
            if let Some(inbox) = self.works.states.get_mut(&parent) {
                inbox.messages.remove(&correlation);
            }
        }
    }

    fn ancestors(&self, id: Id) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        let mut next = self.works.parents.get(&id);
        while let Some(of) = next.filter(|of| found.insert(of.parent)) {
            next = self.works.parents.get(&of.parent);
        }
        found
    }

    fn descendants(&self, id: Id) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        let mut next = vec![id];
        while let Some(of) = next.pop() {
            let children = self.works.parents.iter().filter(|(_, it)| it.parent == of);
            next.extend(children.map(|(child, _)| *child).filter(|child| found.insert(*child)));
        }
        found
    }

    fn remove(&mut self, id: Id) {
        self.forget_outcome(id);
        let attempts = self.attempts.values().flatten().filter(|attempt| attempt.by == id);
        let tokens: BTreeSet<u64> = attempts.map(|attempt| attempt.token).collect();
        for entry in self.entries.iter().filter(|entry| entry.id == Some(id)) {
            if let Ok(line) = &entry.line {
                let (digest, opened) = (line.digest, tokens.contains(&entry.seq));
                let left = PrunedLine { digest, chain: entry.chain, opened };
                self.pruned.insert(entry.seq, left);
            }
        }
        self.entries.retain(|entry| entry.id != Some(id));
        self.machines.retain(|stored| stored.row.id != id);
        self.works.states.remove(&id);
        self.works.messages.retain(|message| message.to != id);
        self.works.parents.retain(|child, of| *child != id && of.parent != id);
        // Everything after it has moved up.
        self.places = self.machines.iter().enumerate().map(|(at, it)| (it.row.id, at)).collect();
        for stored in &mut self.machines {
            stored.lines.clear();
        }
        for place in 0..self.entries.len() {
            let of = self.entries[place].id;
            if let Some(stored) = of.and_then(|id| self.find_mut(id)) {
                stored.lines.push(place);
            }
        }
    }

    pub(super) fn links(&self, after: u64, limit: usize) -> Vec<Link> {
        let lines = self.entries(after, limit).into_iter().map(Link::Line);
        let pruned = self.pruned.range(after.saturating_add(1)..).take(limit);
        let pruned = pruned.map(|(seq, line)| Link::Pruned(*seq, Ok(line.clone())));
        let mut links: Vec<Link> = lines.chain(pruned).collect();
        links.sort_by_key(Link::seq);
        links.truncate(limit);
        links
    }
}
