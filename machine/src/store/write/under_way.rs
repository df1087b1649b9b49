//! The calls that keep a machine in its state.

use crate::{
    id::Id,
    store::{
        backend::{Kinship, Write, WriteBatch},
        inbox::outcome::outcome_of,
        write::admission::Lookup,
    },
    stored::Hold,
};

/// The kind of the machines that are calls.
pub(crate) const CALLS: &str = "execution";

/// Their state after a call that took effect.
pub(crate) const COMPLETED: &str = "completed";

impl WriteBatch {
    /// A call of this machine's invocations that is under way after this batch: it has taken its
    /// key, and the machine has not taken its outcome.
    pub(super) fn call_under_way<L: Lookup>(
        &self,
        stored: &L,
        parent: Id,
        (since, except): (Option<u64>, &[Id]),
    ) -> Result<Option<Id>, L::Error> {
        // Those that the batch begins, ends, or makes calls of this machine.
        let written = self.writes.iter().filter(|it| it.attempt.is_some() || it.row.ended);
        let changed = written.map(|write| write.row.id);
        let new = self.children.iter().map(|new| new.child);
        let moved = self.moved_children.iter().map(|(child, _)| *child);
        let changed: Vec<Id> = changed.chain(new).chain(moved).collect();
        for call in stored.open_calls(parent)?.into_iter().chain(changed) {
            if !except.contains(&call) && self.is_under_way(stored, (parent, since), call)? {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    fn is_under_way<L: Lookup>(
        &self,
        stored: &L,
        (parent, since): (Id, Option<u64>),
        call: Id,
    ) -> Result<bool, L::Error> {
        let is_of = |it: &Kinship| since.is_none_or(|since| it.since == since);
        let is_call = |it: Kinship| it.parent == parent && it.position.is_some() && is_of(&it);
        if !self.kinship_after(stored, call)?.is_some_and(is_call) {
            return Ok(false);
        }
        let write = self.writes.iter().find(|write| write.row.id == call);
        let hold = match write.and_then(|write| write.attempt.as_ref()) {
            Some(change) => change.hold,
            None => stored.hold(call)?,
        };
        if !matches!(hold, Hold::Held | Hold::Applied) {
            return Ok(false);
        }
        let has_ended = match write {
            Some(Write { row, .. }) => row.ended,
            None => stored.has_ended(call)?.unwrap_or_default(),
        };
        Ok(!has_ended || !self.takes(stored, parent, call)?)
    }

    /// Checks whether the machine has taken the outcome of a call that has ended, or takes it with
    /// this batch.
    fn takes<L: Lookup>(&self, stored: &L, parent: Id, call: Id) -> Result<bool, L::Error> {
        let correlation = outcome_of(call);
        if self.events.iter().any(|(id, event)| *id == parent && event.handles(&correlation)) {
            return Ok(true);
        }
        // Of one that ends with this batch, the outcome is sent by it. Of one that ended when it
        // was no part of an invocation, there is none.
        let is_written = self.writes.iter().any(|write| write.row.id == call);
        Ok(stored.has_taken(parent, call)?.unwrap_or(!is_written))
    }

    /// The relation of a machine to its parent after this batch.
    fn kinship_after<L: Lookup>(&self, stored: &L, child: Id) -> Result<Option<Kinship>, L::Error> {
        if let Some((_, moved)) = self.moved_children.iter().rfind(|(id, _)| *id == child) {
            return Ok(Some(*moved));
        }
        match self.children.iter().find(|it| it.child == child) {
            // A call names its entry.
            Some(new) => Ok(Some(new.kinship(0))),
            None => stored.kinship(child),
        }
    }
}
