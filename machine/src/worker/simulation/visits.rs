//! The calls of states, at the end of a schedule.

use std::collections::BTreeSet;

use super::checks::{End, Move};
use crate::{
    Id,
    contract::AnyExecution,
    store::{LoadError, backend::Child},
};

/// The triggers that take outcomes.
const OUTCOMES: [&str; 2] = ["paid", "refused"];

/// The transition that leaves a call that has begun.
const DETACHES: &str = "pause";

impl End<'_> {
    /// A tour takes each outcome once, in the visit that made or joined the call, and nothing of a visit begins or is
    /// approved after it.
    pub(super) async fn calls(&mut self, number: usize) -> Result<(), LoadError> {
        let (id, kind, _) = &self.machines[number];
        if kind != "tour" {
            return Ok(());
        }
        let id = *id;
        let calls = self.store.children(id).await?;
        let taken = self.taken(number, &calls);
        for call in &calls {
            let execution: AnyExecution = self.store.load(call.id).await?;
            let Some(origin) = execution.context().invoked() else { continue };
            let left_at = self.left_at(number, origin.entry);
            // One that is closed passes RUNNING without a call.
            let begun_at = self.place(call.id, "running").filter(|_| call.status != "cancelled");
            if begun_at.zip(left_at).is_some_and(|(begun, left)| begun > left) {
                self.found.push(format!("a call of m{number} began after its state was left"));
            }
            let gate = execution.context().behind();
            let approved_at = gate.and_then(|gate| self.place(gate, "completed"));
            if approved_at.zip(left_at).is_some_and(|(approved, left)| approved > left) {
                self.found
                    .push(format!("a question of m{number} was approved after its state was left"));
            }
            if begun_at.is_some() && approved_at.is_none_or(|approved| begun_at < Some(approved)) {
                self.found.push(format!("a call of m{number} began without its approval"));
            }
            if call.status == "completed" && !taken.contains(&call.id.to_string()) {
                let left = self.left(number, call.since - 1);
                if left.is_some_and(|left| left.trigger == DETACHES) {
                    self.shared.ledger().count("receipts left by a pause");
                } else {
                    self.found.push(format!("m{number} has lost the receipt of a call"));
                }
            }
        }
        Ok(())
    }

    /// The calls whose outcomes a tour took.
    fn taken(&mut self, number: usize, calls: &[Child]) -> BTreeSet<String> {
        let (id, _, moves) = &self.machines[number];
        let (own, mut entered, mut taken) = (id.to_string(), 0, BTreeSet::new());
        for one in moves {
            if OUTCOMES.contains(&&*one.trigger) {
                let known = calls.iter().find(|call| call.id.to_string() == one.by);
                if known.is_some_and(|call| call.since != entered + 1) {
                    self.found.push(format!("m{number} took the outcome of another visit"));
                }
                if known.is_none() && one.by != own {
                    self.found.push(format!("m{number} took an outcome of no call of its own"));
                }
                if known.is_some() && !taken.insert(one.by.clone()) {
                    self.found.push(format!("m{number} took the outcome of one call again"));
                }
                if one.done_by.as_ref().is_some_and(|by| !taken.contains(by)) {
                    self.found.push(format!("m{number} has paid, and has not taken its receipt"));
                }
            }
            entered = one.number;
        }
        taken
    }

    /// The transition that ended the visit which began with this entry.
    fn left(&self, number: usize, entry: u64) -> Option<&Move> {
        self.machines[number].2.iter().find(|one| one.number > entry)
    }

    fn left_at(&self, number: usize, entry: u64) -> Option<usize> {
        let left = self.left(number, entry)?.number;
        self.place_of(self.machines[number].0, left)
    }

    /// The place in the journal of the store at which a machine first came into a state.
    fn place(&self, id: Id, state: &str) -> Option<usize> {
        let (_, _, moves) = self.machines.iter().find(|(known, ..)| *known == id)?;
        self.place_of(id, moves.iter().find(|one| one.to == state)?.number)
    }

    /// The place of an entry of a machine in the journal of the store.
    fn place_of(&self, id: Id, entry: u64) -> Option<usize> {
        self.places.get(&id)?.get(usize::try_from(entry).ok()?).copied()
    }
}
