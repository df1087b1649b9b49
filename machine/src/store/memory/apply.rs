use std::sync::Arc;

use super::{MachineRow, Tables};
use crate::{
    definition::Definition,
    id::Id,
    journal::{Digest, DigestKey, Line},
    store::backend::{AppliedBatch, Rejected, Row, Sequenced, Write, WriteBatch},
};

impl Tables {
    pub(super) fn apply(
        &mut self,
        batch: &WriteBatch,
        key: &DigestKey,
    ) -> Result<AppliedBatch, Rejected> {
        if let Some(applied) = self.succeeded_before(batch) {
            return Ok(applied);
        }
        let versions = batch.writes.iter().map(|write| self.find(write.row.id));
        let versions = versions.map(|stored| stored.map(|stored| stored.row.version));
        let admitted = batch.admit(self, versions)?;
        let leave_children: Vec<_> = admitted.writes.iter().map(|it| it.leaves_children).collect();
        for (write, admitted) in batch.writes.iter().zip(admitted.writes) {
            if let (Some(used), Some(tool)) = (&write.tool, admitted.tool) {
                self.tools.insert(used.name.clone(), tool);
            }
        }
        for name in &batch.tools {
            self.tools.entry(name.clone()).or_default();
        }
        for definition in &batch.definitions {
            self.write_definition(Arc::clone(definition));
        }
        let first = self.entries.len();
        let commit_id = batch.commit_id;
        let writes = batch.writes.iter().cloned();
        let last = writes.map(|write| self.write(commit_id, write)).collect();
        self.write_chain(first, key);
        batch.records.iter().for_each(|record| self.write_record(record));
        let outcomes = self.write_work(batch, admitted.events);
        let sent = self.write_caused(batch, &leave_children);
        let pruned = self.prune(&batch.prune);
        batch.log.iter().for_each(|operation| self.log(operation, batch.now));
        Ok(AppliedBatch { last, outcomes, sent, pruned })
    }

    fn write_definition(&mut self, definition: Arc<Definition>) {
        let is_same = |stored: &Arc<Definition>| stored.fingerprint == definition.fingerprint;
        if !self.definitions.iter().any(is_same) {
            self.definitions.push(definition);
        }
    }

    /// Writes for one machine; returns the sequence number of its last line.
    fn write(&mut self, commit_id: i64, write: Write) -> u64 {
        let id = write.row.id;
        self.write_row(Row { commit_id, ..write.row });
        for line in write.lines {
            self.write_line(id, line);
        }
        let last = self.find(id).map_or(0, |stored| self.newest_of(stored));
        if let Some(change) = write.attempt {
            self.change_attempt(id, &change, last);
        }
        last
    }

    fn write_row(&mut self, row: Row) {
        if let Some(MachineRow { row: old, .. }) = self.find_mut(row.id) {
            // Fixed at creation, together with the context that an update leaves out.
            *old = Row {
                key: old.key.take(),
                session: old.session.take(),
                behind: old.behind,
                created_at: old.created_at,
                context: row.context.or_else(|| old.context.take()),
                ..row
            };
            return;
        }
        self.places.insert(row.id, self.machines.len());
        // The newest machine is never pruned, so that its number is not used again.
        let no = self.machines.last().map_or(0, |newest| newest.no) + 1;
        self.machines.push(MachineRow { no, row, lines: Vec::new() });
    }

    fn write_line(&mut self, id: Id, line: Line) {
        let place = self.entries.len();
        let seq = self.newest() + 1;
        self.entries.push(Sequenced { seq, id: Some(id), line: Ok(line), chain: None });
        if let Some(stored) = self.find_mut(id) {
            stored.lines.push(place);
        }
    }

    /// Chains the lines from this place on to all lines before them.
    fn write_chain(&mut self, first: usize, key: &DigestKey) {
        let previous = self.chain.unwrap_or(Digest::ZERO);
        let new = self.entries[first..].iter().filter_map(|entry| entry.line.as_ref().ok());
        let mut parts = vec![previous.bytes().as_slice()];
        parts.extend(new.map(|line| line.digest.bytes().as_slice()));
        if parts.len() == 1 {
            return;
        }
        let chain = key.digest(&parts);
        self.chain = Some(chain);
        if let Some(last) = self.entries.last_mut() {
            last.chain = Some(chain);
        }
    }
}
