//! A short description of a journal entry, for people.

use crate::{
    contract::{CallFact, Closing, Evidence, Liveness},
    definition::Definition,
    journal::{Entry, Fact},
};

/// No names, no keys, no text from outside: those are separate fields.
pub(super) fn note(entry: &Entry, written: Option<&Definition>) -> String {
    let label = |name: &str| {
        let state = written.and_then(|known| Some(&known.states[known.state(name)?]));
        state.map_or_else(|| name.to_owned(), |state| state.label.to_string())
    };
    let text = match &entry.fact {
        Fact::Created { state, .. } => return format!("created as {}", label(state)),
        Fact::Moved { to, trigger, stays: true, .. } => {
            return format!("{} ({trigger})", label(to));
        }
        Fact::Moved { from, to, trigger, .. } => {
            return format!("{} → {} ({trigger})", label(from), label(to));
        }
        Fact::Fenced { .. } => "its worker was fenced",
        Fact::Recorded { .. } => {
            CallFact::of(entry).map_or("a fact was recorded", |fact| call(&fact))
        }
    };
    text.to_owned()
}

fn call(fact: &CallFact) -> &'static str {
    match fact {
        CallFact::Held { .. } => "acquired its idempotency key",
        CallFact::Permitted { approved_by: Some(_), .. } => "permitted, approved by a person",
        CallFact::Permitted { .. } => "permitted",
        CallFact::Accepted { .. } => "accepted by its service, which reports later",
        CallFact::Evidence { evidence, late, .. } => match (evidence, late) {
            (Evidence::Applied(_), false) => "evidence: it took effect",
            (Evidence::Applied(_), true) => "late evidence: it took effect",
            (Evidence::NotApplied(_), false) => "evidence: it did not take effect",
            (Evidence::NotApplied(_), true) => "late evidence: it did not take effect",
            (Evidence::Unknown(_), false) => "no evidence: unknown whether it took effect",
            (Evidence::Unknown(_), true) => "a late answer without evidence",
        },
        CallFact::Parked { worker: Liveness::Alive, .. } => {
            "put in doubt; its call may still be running"
        }
        CallFact::Parked { worker: Liveness::CutOff, .. } => {
            "put in doubt; its call was cut off, and its process is still running"
        }
        CallFact::Parked { worker: Liveness::Ended, .. } => "put in doubt; its call has ended",
        CallFact::Parked { .. } => "put in doubt; it is unknown whether its worker is alive",
        CallFact::CutOff { .. } => "its call was cut off, and its process is still running",
        CallFact::WorkerEnded { .. } => "its call has ended",
        CallFact::Confirmed { applied: true, .. } => "confirmed: it took effect",
        CallFact::Confirmed { overridden: true, .. } => "declared not done without proof",
        CallFact::Confirmed { .. } => "confirmed: it did not take effect",
        CallFact::Decided { approved: true, .. } => "approved",
        CallFact::Decided { .. } => "declined",
        CallFact::Answered { .. } => "answered by a person",
        CallFact::Acknowledged { .. } => "acknowledged by a person",
        CallFact::Closed { cause: Closing::Declined { .. }, .. } => {
            "ended without a call: declined"
        }
        CallFact::Closed { cause: Closing::Expired, .. } => "ended without a call: expired",
        CallFact::Closed { cause: Closing::Cancelled { .. }, .. } => {
            "ended without a call: cancelled"
        }
        CallFact::Closed { .. } => "ended without a call",
    }
}
