use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::work::Works;
use crate::{
    definition::Definition,
    id::Id,
    journal::Digest,
    store::{
        backend::{Record, Row, Sequenced, WorkerRow},
        operation::Operation,
        upkeep::pruning::PrunedLine,
        write::{attempt::KeyAttempt, tool::ToolRecord},
    },
};

#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Tables {
    pub(in crate::store) definitions: Vec<Arc<Definition>>,
    /// In the order in which they were created.
    pub(in crate::store) machines: Vec<MachineRow>,
    pub(super) places: HashMap<Id, usize>,
    /// The journal, by sequence number.
    pub(in crate::store) entries: Vec<Sequenced>,
    /// The chain on the newest entry.
    pub(super) chain: Option<Digest>,
    /// The attempts at each key, oldest first.
    pub(in crate::store) attempts: BTreeMap<String, Vec<KeyAttempt>>,
    /// The tools that were irreversible once.
    pub(in crate::store) tools: BTreeMap<String, ToolRecord>,
    /// The workers that have joined and not left.
    pub(in crate::store) crew: BTreeMap<Id, WorkerRow>,
    pub(in crate::store) works: Works,
    /// The remains of pruned lines, by sequence number.
    pub(in crate::store) pruned: BTreeMap<u64, PrunedLine>,
    /// In the order in which they were created.
    pub(in crate::store) records: Vec<Record>,
    pub(super) record_places: HashMap<(String, Id), usize>,
    /// The operator log, by number.
    pub(in crate::store) operations: Vec<Operation>,
}

#[derive(Debug, Clone)]
pub(in crate::store) struct MachineRow {
    /// Machines are numbered from 1 as they are created.
    pub(in crate::store) no: u64,
    pub(in crate::store) row: Row,
    /// Where its lines are in the journal, by number.
    pub(in crate::store) lines: Vec<usize>,
}

impl Tables {
    pub(in crate::store) fn find(&self, id: Id) -> Option<&MachineRow> {
        self.places.get(&id).and_then(|&place| self.machines.get(place))
    }

    pub(super) fn find_mut(&mut self, id: Id) -> Option<&mut MachineRow> {
        self.places.get(&id).and_then(|&place| self.machines.get_mut(place))
    }

    pub(super) fn newest(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    /// The sequence number of a machine's newest line; 0 if it has none.
    pub(super) fn newest_of(&self, stored: &MachineRow) -> u64 {
        self.seq_at(stored.lines.last())
    }

    pub(super) fn digest_of(&self, stored: &MachineRow) -> Option<Digest> {
        let newest = stored.lines.last().and_then(|&place| self.entries.get(place));
        newest.and_then(|entry| Some(entry.line.as_ref().ok()?.digest))
    }

    /// The sequence number of a machine's line with this number; 0 if it has none.
    pub(super) fn seq_of(&self, stored: &MachineRow, number: u64) -> u64 {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        self.seq_at(stored.lines.get(number))
    }

    fn seq_at(&self, place: Option<&usize>) -> u64 {
        place.and_then(|&place| self.entries.get(place)).map_or(0, |entry| entry.seq)
    }
}
