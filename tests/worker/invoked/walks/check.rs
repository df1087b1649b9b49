//! The journal of a walk, entry by entry.

use std::collections::BTreeMap;

use machine::{
    contract::{CallError, CallFact, Closing},
    journal::{Due, Entry, Fact},
};

use super::bank::Line;
use crate::worker::prelude::*;

/// A call of the tour.
struct Known {
    /// The number of the entry that made it.
    entry: u64,
    stage: u64,
    gate: Id,
    stands: Stands,
    /// The answer to its question.
    approved: Option<bool>,
    /// It ended without a call; on that way it passes RUNNING.
    is_closed: bool,
    is_taken: bool,
    /// The last move out of a visit that had it was one that leaves what has begun.
    is_detached: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Pending,
    /// It has begun, and may have paid.
    Begun,
    /// It has not paid, which an entry does not know that was read before.
    NotPaid,
    /// A person declined it.
    Declined,
    /// No later entry joins it.
    Gone,
}

/// The visit in which the tour is.
#[derive(Default)]
struct Visit {
    entry: u64,
    /// The entry of the visit before it.
    before: u64,
    stage: u64,
    due: Vec<Due>,
    /// The calls of earlier visits that it has joined.
    joined: Vec<Id>,
}

struct Told<'a> {
    tour: Id,
    /// What the bank has paid.
    lines: &'a [Line],
    calls: BTreeMap<Id, Known>,
    visit: Visit,
    counts: Counts,
}

/// What happened on a walk.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Receipts that were taken.
    pub(super) paid: usize,
    /// Outcomes of calls that were joined.
    pub(super) joined: usize,
    /// Calls that ended with their visit.
    pub(super) withdrawn: usize,
    pub(super) declined: usize,
}

/// Checks a walk with everything that was committed on it.
pub(super) async fn check(
    store: &Store,
    tour: Id,
    history: &[(Id, Entry)],
    lines: &[Line],
) -> Counts {
    let mut calls = BTreeMap::new();
    for call in store.children(tour).await.unwrap() {
        let call: AnyExecution = store.load(call.id).await.unwrap();
        let contract = call.context();
        let known = Known {
            entry: contract.invoked().unwrap().entry,
            stage: contract.action().arguments().unwrap()["stage"].as_u64().unwrap(),
            gate: contract.behind().unwrap(),
            stands: Stands::Pending,
            approved: None,
            is_closed: false,
            is_taken: false,
            is_detached: false,
        };
        calls.insert(call.id(), known);
    }
    let mut told = Told { tour, lines, calls, visit: Visit::default(), counts: Counts::default() };
    for (id, entry) in history {
        if *id == tour {
            told.tour_moves(entry);
        } else if let Some(fact) = CallFact::of(entry) {
            told.records(*id, &fact);
        } else if let Fact::Moved { from, to, .. } = &entry.fact {
            told.other_moves(*id, (&**from, &**to), entry);
        }
    }
    for (call, known) in &told.calls {
        let is_kept = known.is_taken || known.is_detached || !told.has_paid(*call);
        assert!(is_kept, "{call} has paid, and its receipt was not taken");
    }
    told.counts
}

impl Told<'_> {
    fn tour_moves(&mut self, entry: &Entry) {
        let (from, trigger, payload, deadlines) = match &entry.fact {
            Fact::Created { deadlines, .. } => ("", "", None, deadlines),
            Fact::Moved { from, trigger, payload, deadlines, .. } => {
                (&**from, &**trigger, Some(payload), deadlines)
            }
            other => panic!("{other:?}"),
        };
        let by: Option<Id> = entry.by.as_deref().and_then(|by| by.parse().ok());
        match (trigger, by.filter(|by| *by != self.tour)) {
            ("paid", Some(call)) => {
                self.takes(call);
                assert!(self.has_paid(call), "{call} has a receipt, and was not paid");
                self.counts.paid += 1;
            }
            ("paid", None) => panic!("a receipt of no call"),
            ("refused", call) => {
                if let Some(call) = call {
                    self.takes(call);
                }
                let why = payload.unwrap()["why"].clone();
                let why: CallError = serde_json::from_value(why).unwrap();
                let is_refused = matches!(why, CallError::Refused(_));
                assert!(!is_refused, "the bank refuses nothing: {why:?}");
                if let CallError::AlreadyDone { by } = why {
                    assert!(self.calls[&by].is_taken, "it has paid by {by}, and no receipt");
                }
            }
            _ => {}
        }
        for (id, known) in &mut self.calls {
            let had = known.entry == self.visit.entry || self.visit.joined.contains(id);
            if from == "booking" && had {
                known.is_detached = trigger == "pause";
            }
        }
        let stage = self.visit.stage + u64::from(["ride", "skip"].contains(&trigger));
        let is_joined = |known: &Known| {
            let stands = [Stands::Begun, Stands::NotPaid, Stands::Declined].contains(&known.stands);
            known.stage == stage && stands && !known.is_taken
        };
        let joined = self.calls.iter().filter(|(_, known)| is_joined(known));
        let joined = joined.map(|(id, _)| *id).collect();
        let (entry, before, due) = (entry.number, self.visit.entry, deadlines.clone());
        self.visit = Visit { entry, before, stage, due, joined };
        for known in self.calls.values_mut().filter(|known| known.stands == Stands::NotPaid) {
            known.stands = Stands::Gone;
        }
    }

    /// The tour takes the outcome of this call.
    fn takes(&mut self, call: Id) {
        let visit = &self.visit;
        let known = self.calls.get_mut(&call).expect("it is a call of the tour");
        assert!(!known.is_taken, "the outcome of {call} is taken again");
        let is_joined = visit.joined.contains(&call);
        assert!(
            is_joined || known.entry == visit.entry,
            "the outcome of {call} is of another visit"
        );
        assert_eq!(known.stage, visit.stage);
        known.is_taken = true;
        self.counts.joined += usize::from(is_joined);
    }

    fn has_paid(&self, call: Id) -> bool {
        self.lines.iter().any(|line| line.execution == call)
    }

    /// The answer to a question, or the end of a call that is never made.
    fn records(&mut self, id: Id, fact: &CallFact) {
        let visit = &self.visit;
        match fact {
            CallFact::Decided { approved, .. } => {
                let known = self.calls.values_mut().find(|known| known.gate == id).unwrap();
                assert_eq!(known.entry, visit.entry, "{id} is answered after its visit");
                assert_eq!(known.approved, None, "{id} is answered again");
                known.approved = Some(*approved);
            }
            CallFact::Closed { cause, reason } => {
                if let Closing::AlreadyDone { by } = cause {
                    assert!(self.has_paid(*by), "{id}: {reason}, and that has not paid");
                }
                let known = self.calls.get_mut(&id).expect("it is a call of the tour");
                known.is_closed = true;
                known.stands = match cause {
                    Closing::Declined { .. } => {
                        assert_eq!(known.approved, Some(false), "{id}: {reason}");
                        assert_eq!(known.entry, visit.entry, "{id} is declined after its visit");
                        self.counts.declined += 1;
                        Stands::Declined
                    }
                    // The move that leaves the state comes before the calls that it withdraws, in
                    // one commit.
                    Closing::Cancelled { .. } => {
                        let has_left = known.entry != visit.entry;
                        assert!(has_left && known.entry == visit.before, "{id}: {reason}");
                        self.counts.withdrawn += 1;
                        Stands::Gone
                    }
                    Closing::AlreadyDone { .. } => {
                        assert_eq!(known.entry, visit.entry, "{id}: {reason}");
                        Stands::Gone
                    }
                    other => panic!("{id} ended, and nothing has ended it: {other:?}"),
                };
            }
            _ => {}
        }
    }

    /// A call, or the question about one.
    fn other_moves(&mut self, id: Id, (from, to): (&str, &str), entry: &Entry) {
        let (visit, has_paid) = (&self.visit, self.has_paid(id));
        if let Some(known) = self.calls.get_mut(&id) {
            if known.is_closed {
                let ends = [("pending", "running"), ("running", "cancelled")];
                assert!(ends.contains(&(from, to)), "{id} was closed, and is {to}");
            } else if (from, to) == ("pending", "running") {
                assert_eq!(known.entry, visit.entry, "{id} begins after its visit");
                assert_eq!(known.approved, Some(true), "{id} begins without an approval");
                let is_due = |due: &Due| due.due_at.is_some_and(|at| at <= entry.at);
                assert!(!visit.due.iter().any(is_due), "{id} begins, and a deadline is due");
                known.stands = Stands::Begun;
            } else if ["failed", "cancelled", "rejected"].contains(&to) {
                assert_eq!(known.stands, Stands::Begun, "{id} has not begun, and is {to}");
                assert!(!has_paid, "{id} has paid, and is {to}");
                known.stands = Stands::NotPaid;
            }
        } else if to == "completed" {
            let known = self.calls.values().find(|known| known.gate == id).unwrap();
            assert_eq!(known.approved, Some(true), "{id} is completed without an approval");
        }
    }
}
