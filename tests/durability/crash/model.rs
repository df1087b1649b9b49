//! The expected content of the file.

use std::collections::{BTreeMap, BTreeSet};

use machine::{
    Id,
    store::{Query, Store},
};
use serde_json::Value;

use super::said::{Planned, Said};
use crate::support::{PARKED, history, lines};

/// The machines of a file, and the operations without an answer.
#[derive(Debug, Default)]
pub(super) struct Model {
    machines: BTreeMap<Id, Known>,
    pending: BTreeMap<u64, Vec<Planned>>,
    recovering: bool,
    /// The machines whose journal was not compared since it changed.
    changed: BTreeSet<Id>,
    pub(super) figures: Figures,
}

#[derive(Debug, Default)]
struct Known {
    entries: Vec<String>,
    status: String,
    text: Option<String>,
}

/// Totals of all rounds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Figures {
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
    /// Operations without an answer that were in the file, and those that were not.
    pub(super) written: u64,
    pub(super) unwritten: u64,
    pub(super) parked: u64,
    pub(super) entries: u64,
}

impl Known {
    /// A permit was issued, and its outcome is unknown.
    fn is_unanswered(&self) -> bool {
        let mut back = self.entries.iter().rev();
        let newest = back.find(|entry| {
            *entry == "permitted"
                || ["applied", "not applied", "confirmed"]
                    .iter()
                    .any(|answer| entry.starts_with(answer))
        });
        newest.is_some_and(|entry| entry == "permitted")
    }

    fn park(&mut self) {
        self.entries.extend(PARKED.map(str::to_owned));
        "waiting".clone_into(&mut self.status);
        self.text = None;
    }
}

impl Model {
    /// The child said this.
    pub(super) fn hear(&mut self, said: Said) {
        match said {
            Said::Will { operation, writes } => {
                assert!(self.pending.insert(operation, writes).is_none());
            }
            Said::Did { operation } => {
                let writes = self.pending.remove(&operation).unwrap();
                self.figures.acknowledged += 1;
                self.write(writes);
            }
            Said::Refused { operation } => {
                self.pending.remove(&operation).unwrap();
                self.figures.refused += 1;
            }
            Said::WillRecover => self.recovering = true,
            Said::DidRecover { in_doubt } => {
                self.recovering = false;
                self.parked(&in_doubt);
            }
            Said::End => {}
        }
    }

    /// These are in doubt; those that were running are parked now.
    pub(super) fn parked(&mut self, in_doubt: &[Id]) {
        for id in in_doubt {
            let known = self.machines.get_mut(id).unwrap();
            assert!(known.is_unanswered(), "{id} is not in doubt: {:?}", known.entries);
            if known.status == "running" {
                known.park();
                self.figures.parked += 1;
                self.changed.insert(*id);
            }
        }
    }

    /// The machines that a permit without an answer was issued for.
    pub(super) fn unanswered(&self) -> BTreeSet<Id> {
        let unanswered = self.machines.iter().filter(|(_, known)| known.is_unanswered());
        unanswered.map(|(id, _)| *id).collect()
    }

    fn write(&mut self, writes: Vec<Planned>) {
        for Planned { id, from, entries, status, text } in writes {
            let known = self.machines.entry(id).or_default();
            assert_eq!(known.entries.len() as u64, from, "the child and the model differ");
            self.figures.entries += entries.len() as u64;
            known.entries.extend(entries);
            (known.status, known.text) = (status, text);
            self.changed.insert(id);
        }
    }

    /// Compares the file with the model, and finds out about the operations without an answer.
    pub(super) async fn compare(&mut self, store: &Store) {
        let lines = lines(store, &Query::new()).await;
        let found: BTreeMap<Id, _> = lines.into_iter().map(|line| (line.id, line)).collect();
        for (operation, writes) in std::mem::take(&mut self.pending) {
            let is_there = |planned: &Planned| {
                let version = found.get(&planned.id).map_or(0, |line| line.version);
                let after = planned.from + planned.entries.len() as u64;
                assert!(version == planned.from || version == after, "{version}: {planned:?}");
                version == after
            };
            let there = writes.iter().filter(|planned| is_there(planned)).count();
            assert!(
                there == 0 || there == writes.len(),
                "{there} of {} writes of operation {operation} are in the file: {writes:?}",
                writes.len()
            );
            if there == 0 {
                self.figures.unwritten += 1;
            } else {
                self.figures.written += 1;
                self.write(writes);
            }
        }
        if std::mem::take(&mut self.recovering) {
            // It parks each machine in a separate commit.
            let parked = self.unanswered().into_iter().filter(|id| {
                let known = &self.machines[id];
                known.status == "running" && found[id].status == "waiting"
            });
            let parked: Vec<Id> = parked.collect();
            self.parked(&parked);
        }
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            self.machines.keys().collect::<Vec<_>>(),
            "the machines in the file and in the model"
        );
        for (id, known) in &self.machines {
            let line = &found[id];
            let expected = (known.entries.len() as u64, known.status.as_str());
            assert_eq!((line.version, line.status.as_str()), expected, "{id}");
        }
        for id in std::mem::take(&mut self.changed) {
            self.compare_one(store, id).await;
        }
    }

    /// Compares the whole journals of all machines.
    pub(super) async fn compare_everything(&mut self, store: &Store) {
        self.changed = self.machines.keys().copied().collect();
        self.compare(store).await;
    }

    async fn compare_one(&self, store: &Store, id: Id) {
        let known = &self.machines[&id];
        assert_eq!(history(store, id).await, known.entries, "{id}");
        let json = store.json(id).await.unwrap();
        assert_eq!(json["status"], Value::from(known.status.clone()));
        let state = json["state"].to_string();
        if let Some(text) = &known.text {
            assert!(state.contains(text.as_str()), "{id}: {state} without {text}");
        }
        if let Some(total) = json["state"].get("total") {
            let added = known.entries.iter().filter(|entry| entry.starts_with("add ")).count();
            assert_eq!(*total, Value::from(added), "{id}");
        }
    }
}
