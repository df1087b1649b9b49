use std::{cmp::Reverse, collections::BTreeMap};

use super::{MachineRow, Tables};
use crate::{
    clock::Millis,
    id::Id,
    journal::{DigestKey, EntryKind, Line},
    store::{
        backend::{Filter, FoundRow, Row, Sequenced},
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Reading, Selected, Transitions},
        },
    },
};

impl Tables {
    pub(super) fn rows(&self, ids: &[Id]) -> Vec<FoundRow> {
        let row = |&id: &Id| {
            self.find(id).map_or(FoundRow::Missing(id), |stored| self.found(stored, true))
        };
        ids.iter().map(row).collect()
    }

    pub(super) fn select(&self, filter: &Filter) -> Vec<(u64, FoundRow)> {
        let mut selected: Vec<_> =
            self.machines.iter().filter(|stored| self.is_selected(stored, filter)).collect();
        if filter.due_by.is_some() {
            selected.sort_by_key(|stored| place(stored, filter));
        } else if filter.newest_first {
            selected.reverse();
        }
        selected.truncate(filter.limit);
        selected.into_iter().map(|stored| (stored.no, self.found(stored, filter.whole))).collect()
    }

    pub(super) fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Vec<(u64, SessionLine)> {
        let mut newest: BTreeMap<&str, (u64, SessionLine)> = BTreeMap::new();
        for MachineRow { no, row, .. } in &self.machines {
            let Some(session) = &row.session else { continue };
            let (newest, line) = newest.entry(session).or_insert_with(|| {
                let (created_at, updated_at) = (row.created_at, row.updated_at);
                (0, SessionLine { session: session.clone(), machines: 0, created_at, updated_at })
            });
            if after.is_none_or(|after| *no <= after.upto) {
                *newest = *no;
            }
            line.machines += 1;
            line.created_at = line.created_at.min(row.created_at);
            line.updated_at = line.updated_at.max(row.updated_at);
        }
        let mut found: Vec<_> = newest.into_values().collect();
        // Sessions that began after the first page have none.
        found.retain(|(newest, _)| *newest > 0 && after.is_none_or(|after| *newest < after.number));
        found.sort_by_key(|(newest, _)| Reverse(*newest));
        found.truncate(limit);
        found
    }

    pub(super) fn history(&self, id: Id, from: u64, limit: usize) -> Vec<Line> {
        let Some(stored) = self.find(id) else { return Vec::new() };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let entries = stored.lines.iter().skip(from).take(limit);
        entries
            .filter_map(|&place| self.entries.get(place))
            .filter_map(|entry| entry.line.clone().ok())
            .collect()
    }

    pub(super) fn moves_before(&self, id: Id, number: u64) -> u64 {
        let before = self.history(id, 0, usize::try_from(number).unwrap_or(usize::MAX));
        before.iter().filter(|line| line.kind == EntryKind::Moved).count() as u64
    }

    pub(super) fn transitions(&self, of: &Selected, key: &DigestKey) -> Transitions {
        let mut transitions = Reading::new(*key, of.with_names);
        let machines = self.machines.iter().filter(|MachineRow { no, row, .. }| {
            row.session.as_ref() == Some(&of.session)
                && row.machine == of.machine
                && (of.first..=of.last).contains(no)
        });
        for machine in machines {
            transitions.begin(machine.row.id);
            for entry in machine.lines.iter().filter_map(|&place| self.entries.get(place)) {
                transitions.add(entry.line.clone().map_err(|broken| broken.reason));
            }
        }
        transitions.finish()
    }

    pub(super) fn entries(&self, after: u64, limit: usize) -> Vec<Sequenced> {
        let first = self.entries.partition_point(|entry| entry.seq <= after);
        self.entries[first..].iter().take(limit).cloned().collect()
    }

    fn is_selected(&self, stored: &MachineRow, filter: &Filter) -> bool {
        let is_after = filter.after.is_none_or(|(due_at, no)| match filter.due_by {
            Some(_) => place(stored, filter) > (due_at, no),
            None if filter.newest_first => stored.no < no,
            None => stored.no > no,
        });
        is_after
            && filter.selects(&stored.row, self.gate(stored))
            && self.has_calls(&stored.row, filter)
    }

    /// The status of the machine that one is behind.
    fn gate(&self, stored: &MachineRow) -> Option<&str> {
        stored.row.behind.and_then(|gate| self.find(gate)).map(|gate| &*gate.row.status)
    }

    fn found(&self, stored: &MachineRow, whole: bool) -> FoundRow {
        let gate = self.gate(stored).map(str::to_owned);
        if !whole {
            // The long texts are not even copied.
            let Row { machine, status, session, key, .. } = &stored.row;
            return FoundRow::Row(
                Row {
                    machine: machine.clone(),
                    status: status.clone(),
                    session: session.clone(),
                    key: key.clone(),
                    gate,
                    state: String::new(),
                    summary: String::new(),
                    context: None,
                    ..stored.row
                },
                None,
            );
        }
        FoundRow::Row(Row { gate, ..stored.row.clone() }, self.digest_of(stored))
    }
}

/// Where a row is in the order of the filter; see [`Filter::after`].
fn place(stored: &MachineRow, filter: &Filter) -> (Millis, u64) {
    let due_at = filter.due_by.and(stored.row.due_at);
    (due_at.unwrap_or(Millis::MIN), stored.no)
}
