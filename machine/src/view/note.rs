//! A short description of a journal entry, for people.

use super::{Language, Phrase};
use crate::{
    contract::{CallFact, Evidence, Liveness},
    definition::Definition,
    journal::{Entry, Fact},
};

/// No names, no keys, no text from outside: those are separate fields.
pub(super) fn note(entry: &Entry, written: Option<&Definition>, language: Language) -> String {
    let label = |name: &str| {
        let state = written.and_then(|known| Some(&known.states[known.state(name)?]));
        state.map_or_else(|| name.to_owned(), |state| state.label.to_string())
    };
    let phrase = match &entry.fact {
        Fact::Created { state, .. } => {
            return language.say(Phrase::CreatedAs, &[("state", &label(state))]);
        }
        Fact::Moved { to, trigger, stays: true, .. } => {
            return format!("{} ({trigger})", label(to));
        }
        Fact::Moved { from, to, trigger, .. } => {
            return format!("{} → {} ({trigger})", label(from), label(to));
        }
        Fact::Fenced { .. } => Phrase::Fenced,
        Fact::Recorded { .. } => {
            CallFact::of(entry).map_or(Phrase::FactRecorded, |fact| call(&fact))
        }
    };
    language.text(phrase).to_owned()
}

fn call(fact: &CallFact) -> Phrase {
    match fact {
        CallFact::Held { .. } => Phrase::KeyHeld,
        CallFact::Permitted { approved_by: Some(_), .. } => Phrase::PermittedByPerson,
        CallFact::Permitted { .. } => Phrase::Permitted,
        CallFact::Accepted { .. } => Phrase::AcceptedByService,
        CallFact::Evidence { evidence, late, .. } => match (evidence, late) {
            (Evidence::Applied(_), false) => Phrase::EvidenceApplied,
            (Evidence::Applied(_), true) => Phrase::EvidenceAppliedLate,
            (Evidence::NotApplied(_), false) => Phrase::EvidenceNotApplied,
            (Evidence::NotApplied(_), true) => Phrase::EvidenceNotAppliedLate,
            (Evidence::Unknown(_), false) => Phrase::NoEvidence,
            (Evidence::Unknown(_), true) => Phrase::NoEvidenceLate,
        },
        CallFact::Parked { worker: Liveness::Alive, .. } => Phrase::ParkedAlive,
        CallFact::Parked { worker: Liveness::CutOff, .. } => Phrase::ParkedCutOff,
        CallFact::Parked { worker: Liveness::Ended, .. } => Phrase::ParkedEnded,
        CallFact::Parked { .. } => Phrase::ParkedUnknown,
        CallFact::CutOff { .. } => Phrase::CutOff,
        CallFact::WorkerEnded { .. } => Phrase::WorkerEnded,
        CallFact::Confirmed { applied: true, .. } => Phrase::ConfirmedApplied,
        CallFact::Confirmed { overridden: true, .. } => Phrase::DeclaredNotDone,
        CallFact::Confirmed { .. } => Phrase::ConfirmedNotApplied,
        CallFact::Decided { approved: true, .. } => Phrase::Approved,
        CallFact::Decided { .. } => Phrase::Declined,
        CallFact::Answered { .. } => Phrase::AnsweredByPerson,
        CallFact::Acknowledged { .. } => Phrase::AcknowledgedByPerson,
        CallFact::Closed { .. } => Phrase::ClosedUncalled,
    }
}
