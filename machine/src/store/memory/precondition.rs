use std::ops::RangeInclusive;

use super::{Tables, calls::entered};
use crate::{
    id::Id,
    journal::Digest,
    store::{
        backend::{
            AppliedBatch, Broken, CallRow, Child, Kinship, OtherAttempts, Rejected, WriteBatch,
        },
        inbox::{
            message::Delivery,
            protocol::{Event, EventOutcome, InboxState},
        },
        write::{admission::Lookup, attempt::AttemptRow, tool::ToolRecord, under_way::CALLS},
    },
    stored::Hold,
};

impl Tables {
    pub(super) fn succeeded_before(&self, batch: &WriteBatch) -> Option<AppliedBatch> {
        let stored = batch.writes.iter().map(|write| self.find(write.row.id));
        let stored = stored.collect::<Option<Vec<_>>>()?;
        let rows = stored.iter().map(|stored| (stored.row.version, stored.row.commit_id));
        if !batch.was_written(rows) {
            return None;
        }
        let last =
            batch.writes.iter().zip(stored).map(|(write, stored)| match write.lines.last() {
                Some(line) => self.seq_of(stored, line.number),
                None => self.newest_of(stored),
            });
        let outcomes = vec![EventOutcome::Done; batch.events.len()];
        Some(AppliedBatch { last: last.collect(), outcomes, ..AppliedBatch::default() })
    }
}

impl Lookup for Tables {
    type Error = Rejected;
    type Place = ();

    fn version(&self, id: Id) -> Result<Option<u64>, Rejected> {
        Ok(self.find(id).map(|stored| stored.row.version))
    }

    fn state(&self, id: Id) -> Result<Option<(String, Option<Digest>)>, Rejected> {
        Ok(self.find(id).map(|stored| (stored.row.status.clone(), self.digest_of(stored))))
    }

    fn has_ended(&self, id: Id) -> Result<Option<bool>, Rejected> {
        Ok(self.find(id).map(|stored| stored.row.ended))
    }

    fn entered(&self, id: Id) -> Result<Option<u64>, Rejected> {
        let found = self.find(id).filter(|stored| !stored.row.ended);
        Ok(found.map(|stored| entered(&stored.row)))
    }

    fn kinship(&self, child: Id) -> Result<Option<Kinship>, Rejected> {
        Ok(self.works.parents.get(&child).copied())
    }

    fn open_calls(&self, parent: Id) -> Result<Vec<Id>, Rejected> {
        let is_call = |id| self.find(id).is_some_and(|it| it.row.machine == CALLS);
        let is_open = |call: &CallRow| {
            let is_live = call.ended_at.is_none() && is_call(call.id);
            is_live || call.outcome.is_some_and(|it| it != Delivery::Handled)
        };
        Ok(self.calls_of(parent).into_iter().filter(is_open).map(|call| call.id).collect())
    }

    fn hold(&self, id: Id) -> Result<Hold, Rejected> {
        Ok(self.newest_attempt(id).map(|attempt| attempt.hold).unwrap_or_default())
    }

    fn has_taken(&self, parent: Id, call: Id) -> Result<Option<bool>, Rejected> {
        Ok(self.outcome(parent, call).map(|outcome| outcome == Delivery::Handled))
    }

    fn is_answered_after(&self, key: &str, after: u64) -> Result<bool, Rejected> {
        let actions = self.machines.iter().filter(|it| it.row.key.as_deref() == Some(key));
        let mut gates = actions.filter_map(|action| self.find(action.row.behind?));
        Ok(gates.any(|gate| self.newest_of(gate) > after))
    }

    fn children_of(&self, parent: Id, visit: &RangeInclusive<u64>) -> Result<Vec<Child>, Rejected> {
        let children = self.children(parent).into_iter();
        Ok(children.filter(|child| visit.contains(&child.since)).collect())
    }

    fn other_attempt(
        &self,
        attempts: &OtherAttempts,
        known: &[Id],
    ) -> Result<Option<(Id, String)>, Rejected> {
        let mut rows = self.machines.iter().map(|stored| &stored.row);
        let found = rows.find(|row| attempts.has(row) && !known.contains(&row.id));
        Ok(found.map(|row| (row.id, row.status.clone())))
    }

    fn tool(&self, name: &str) -> Result<Option<ToolRecord>, Rejected> {
        Ok(self.tools.get(name).copied())
    }

    fn record(&self, kind: &str, id: Id) -> Result<u64, Rejected> {
        let place = self.record_places.get(&(kind.to_owned(), id));
        Ok(place.and_then(|&place| self.records.get(place)).map_or(0, |record| record.version))
    }

    fn attempts(&self, key: &str) -> Result<Vec<Result<AttemptRow, Broken>>, Rejected> {
        let attempts = self.attempts.get(key).into_iter().flatten();
        Ok(attempts.map(|attempt| Ok(AttemptRow { no: 0, attempt: attempt.clone() })).collect())
    }

    fn inbox(&self, id: Id) -> Result<Option<((), InboxState)>, Rejected> {
        Ok(self.find(id).map(|_| ((), self.inbox_state(id))))
    }

    fn add_messages(&self, (): (), _: &Event, _: &mut InboxState) -> Result<(), Rejected> {
        Ok(())
    }
}
