//! The calls of states, at the end of a schedule.

use std::collections::BTreeSet;

use super::checks::{End, Move};
use crate::{
    Id,
    contract::{AnyExecution, CallFact, Closing, Evidence},
    store::{LoadError, backend::Child},
};

/// The triggers that take outcomes.
const OUTCOMES: [&str; 2] = ["paid", "refused"];

/// The transition that leaves a call that has begun.
const DETACHES: &str = "pause";

impl End<'_> {
    /// A tour takes each outcome once, in the visit that made or joined the call; and of a visit
    /// nothing begins, is answered or is withdrawn later than with its end.
    pub(super) async fn calls(&mut self, number: usize) -> Result<(), LoadError> {
        let (id, kind, _) = &self.machines[number];
        if kind != "tour" {
            return Ok(());
        }
        let calls = self.store.children(*id).await?;
        let taken = self.taken(number, &calls);
        for call in &calls {
            let execution: AnyExecution = self.store.load(call.id).await?;
            let Some(origin) = execution.context().invoked() else { continue };
            self.keeps_to_its_visit(number, origin.entry, (call.id, execution.context().behind()));
            if call.status == "completed" && !taken.contains(&call.id.to_string()) {
                let left = self.moves_after(number, call.since - 1).next();
                if left.is_some_and(|left| left.trigger == DETACHES) {
                    self.shared.ledger().count("receipts left by a pause");
                } else {
                    self.found.push(format!("m{number} has lost the receipt of a call"));
                }
            }
        }
        Ok(())
    }

    /// A call of the visit that began with this entry, and its question.
    fn keeps_to_its_visit(&mut self, number: usize, entry: u64, (call, gate): (Id, Option<Id>)) {
        let tour = self.machines[number].0;
        let moves: Vec<_> = self.moves_after(number, entry).map(|one| one.number).collect();
        let place = |index: usize| self.place_of(tour, *moves.get(index)?);
        let (left_at, next_at) = (place(0), place(1));
        let begun_at = self.fact(call, |fact| matches!(fact, CallFact::Permitted { .. }));
        let answered_at = |is: bool| self.fact(gate?, |fact| has_answer(fact, is));
        let (approved_at, declined_at) = (answered_at(true), answered_at(false));
        let is_late = |at: Option<usize>| at.zip(left_at).is_some_and(|(at, left)| at > left);
        let mut wrong = Vec::new();
        if is_late(begun_at) {
            wrong.push("a call began after its state was left".to_owned());
        }
        if is_late(approved_at) || is_late(declined_at) {
            wrong.push("a question was answered after its state was left".to_owned());
        }
        if begun_at.is_some() && approved_at.is_none_or(|approved| begun_at < Some(approved)) {
            wrong.push("a call began without its approval".to_owned());
        }
        let closed_at = self.fact(call, |fact| matches!(fact, CallFact::Closed { .. }));
        if let Some((closed_at, cause)) = closed_at.zip(self.cause(call)) {
            let before = |at: Option<usize>| at.is_some_and(|at| at < closed_at);
            let is_right = match cause {
                // In the commit of the move that left the state.
                Closing::Cancelled { .. } => before(left_at) && !before(next_at),
                Closing::Declined { .. } => before(declined_at),
                Closing::AlreadyDone { by } => before(self.fact(*by, has_paid)),
                // The questions of tours have no end.
                Closing::Expired => false,
            };
            if matches!(cause, Closing::Cancelled { .. }) {
                self.shared.ledger().count("calls that ended with their visit");
            }
            if !is_right {
                wrong.push(format!("a call ended without cause: {cause:?}"));
            }
        }
        self.found.extend(wrong.into_iter().map(|text| format!("m{number}: {text}")));
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

    /// The first transition ends the visit that began with this entry.
    fn moves_after(&self, number: usize, entry: u64) -> impl Iterator<Item = &Move> {
        self.machines[number].2.iter().filter(move |one| one.number > entry)
    }

    /// The place in the journal of the store of the first fact that fits.
    fn fact(&self, id: Id, fits: impl Fn(&CallFact) -> bool) -> Option<usize> {
        let (entry, _) = self.facts.get(&id)?.iter().find(|(_, fact)| fits(fact))?;
        self.place_of(id, *entry)
    }

    /// What ended a call that was never made.
    fn cause(&self, call: Id) -> Option<&Closing> {
        self.facts.get(&call)?.iter().find_map(|(_, fact)| match fact {
            CallFact::Closed { cause, .. } => Some(cause),
            _ => None,
        })
    }

    /// The place of an entry of a machine in the journal of the store.
    fn place_of(&self, id: Id, entry: u64) -> Option<usize> {
        self.places.get(&id)?.get(usize::try_from(entry).ok()?).copied()
    }
}

fn has_answer(fact: &CallFact, is: bool) -> bool {
    matches!(fact, CallFact::Decided { approved, .. } if *approved == is)
}

fn has_paid(fact: &CallFact) -> bool {
    matches!(
        fact,
        CallFact::Evidence { evidence: Evidence::Applied(_), .. }
            | CallFact::Confirmed { applied: true, .. }
    )
}
