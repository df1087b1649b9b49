//! The journal of a walk, entry by entry.

use std::collections::BTreeMap;

use machine::{
    contract::{CallError, Progress},
    journal::{Due, Entry, Fact},
};

use super::bank::Line;
use crate::worker::{leave::committed, prelude::*};

/// A call of the tour.
struct Known {
    /// The number of the entry that made it.
    entry: u64,
    stage: u64,
    gate: Id,
    stands: Stands,
    /// It ended without a call; on that way it passes RUNNING.
    is_closed: bool,
    is_declined: bool,
    is_taken: bool,
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
    stage: u64,
    due: Vec<Due>,
    /// The calls of earlier visits that it has joined.
    joined: Vec<Id>,
}

struct Told {
    tour: Id,
    calls: BTreeMap<Id, Known>,
    visit: Visit,
    /// The number of outcomes of calls that were joined.
    of_joined: usize,
}

/// Checks a walk. Returns the number of outcomes that were taken of calls that were joined.
pub(super) async fn check(store: &Store, tour: Id, lines: &[Line]) -> usize {
    let mut calls = BTreeMap::new();
    for call in store.children(tour).await.unwrap() {
        let call: AnyExecution = store.load(call.id).await.unwrap();
        let contract = call.context();
        let gate = contract.behind().unwrap();
        let asked: AnyExecution = store.load(gate).await.unwrap();
        let known = Known {
            entry: contract.invoked().unwrap().entry,
            stage: contract.action().arguments().unwrap()["stage"].as_u64().unwrap(),
            gate,
            stands: Stands::Pending,
            is_closed: matches!(call, AnyExecution::Cancelled(_)),
            is_declined: Progress::of(&asked).decision().is_some_and(|it| !it.approved),
            is_taken: false,
        };
        calls.insert(call.id(), known);
    }
    let mut told = Told { tour, calls, visit: Visit::default(), of_joined: 0 };
    let all = committed(store).await;
    for (id, entry) in &all {
        if *id == tour {
            told.tour_moves(entry, lines);
        } else if let Fact::Moved { from, to, .. } = &entry.fact {
            told.other_moves(*id, (&**from, &**to), entry);
        }
    }
    told.of_joined
}

impl Told {
    fn tour_moves(&mut self, entry: &Entry, lines: &[Line]) {
        let (trigger, payload, deadlines) = match &entry.fact {
            Fact::Created { deadlines, .. } => ("", None, deadlines),
            Fact::Moved { trigger, payload, deadlines, .. } => {
                (&**trigger, Some(payload), deadlines)
            }
            other => panic!("{other:?}"),
        };
        let by: Option<Id> = entry.by.as_deref().and_then(|by| by.parse().ok());
        match (trigger, by.filter(|by| *by != self.tour)) {
            ("paid", Some(call)) => {
                self.takes(call);
                let is_paid = lines.iter().any(|line| line.execution == call);
                assert!(is_paid, "{call} has a receipt, and was not paid");
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
        let stage = self.visit.stage + u64::from(["ride", "skip"].contains(&trigger));
        let is_joined = |known: &Known| {
            let stands = [Stands::Begun, Stands::NotPaid, Stands::Declined].contains(&known.stands);
            known.stage == stage && stands && !known.is_taken
        };
        let joined = self.calls.iter().filter(|(_, known)| is_joined(known));
        let joined = joined.map(|(id, _)| *id).collect();
        self.visit = Visit { entry: entry.number, stage, due: deadlines.clone(), joined };
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
        self.of_joined += usize::from(is_joined);
    }

    /// A call, or the question about one.
    fn other_moves(&mut self, id: Id, (from, to): (&str, &str), entry: &Entry) {
        let visit = &self.visit;
        if let Some(known) = self.calls.get_mut(&id) {
            if (from, to) == ("pending", "running") && !known.is_closed {
                assert_eq!(known.entry, visit.entry, "{id} begins after its visit");
                let is_due = |due: &Due| due.due_at.is_some_and(|at| at <= entry.at);
                assert!(!visit.due.iter().any(is_due), "{id} begins, and a deadline is due");
                known.stands = Stands::Begun;
            } else if ["failed", "cancelled"].contains(&to) {
                // A move that leaves the state comes before the calls that it withdraws.
                let is_withdrawn = known.entry != visit.entry;
                known.stands = match known.stands {
                    Stands::Begun => Stands::NotPaid,
                    _ if known.is_declined && !is_withdrawn => Stands::Declined,
                    _ => Stands::Gone,
                };
            }
        } else if to == "completed" {
            let known = self.calls.values().find(|known| known.gate == id).unwrap();
            assert_eq!(known.entry, visit.entry, "{id} is approved after its visit");
        }
    }
}
