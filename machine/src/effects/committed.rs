//! Events for the writes of a commit.

use tracing::{field::display, level_filters::LevelFilter};

use crate::{
    actor::Category,
    contract::{
        CallFact,
        execution::{self, Status},
    },
    definition::Definition,
    id::Id,
    journal::{Entry, Fact},
    stored::Durable,
    telemetry::{
        CallAccepted, CallAnswered, CallBegun, CallClosed, CallLate, Created, DoubtConfirmed,
        DoubtCutOff, DoubtOverridden, DoubtParked, DoubtWorkerEnded, Fenced, GateApproved,
        GateAsked, GateDeclined, GateExpired, GateWithdrawn, QuestionAnswered, Transition,
    },
};

/// Emits an event for each entry of a machine that is on disk now, and was not before.
pub(crate) fn emit_committed(machine: &dyn Durable) {
    // All that a commit costs without a subscriber.
    if LevelFilter::current() < LevelFilter::WARN {
        return;
    }
    let (definition, id) = (machine.definition(), machine.journal().id());
    let entries = machine.journal().uncommitted();
    for entry in entries {
        emit(definition, id, entry);
    }
    if definition.fingerprint == execution::DEFINITION.fingerprint {
        gate(machine, id, entries);
    }
}

fn emit(definition: &'static Definition, machine: Id, entry: &Entry) {
    let (kind, id) = (definition.name.as_ref(), display(machine));
    let category = definition.category(entry.actor.as_deref().unwrap_or_default());
    let (actor, version) = (display(category), entry.number + 1);
    match &entry.fact {
        Fact::Created { state, .. } => Created { kind, id, state, actor, version }.emit(),
        Fact::Moved { from, to, trigger, .. } => {
            Transition { kind, id, from, to, trigger, actor, version }.emit();
        }
        Fact::Fenced { epoch, .. } => Fenced { kind, id, epoch: *epoch }.emit(),
        Fact::Recorded { .. } => {
            if let Some(fact) = CallFact::of(entry) {
                emit_recorded(kind, machine, &fact, category);
            }
        }
    }
}

fn emit_recorded(kind: &'static str, machine: Id, fact: &CallFact, category: Category) {
    let (id, actor) = (display(machine), display(category));
    match fact {
        CallFact::Permitted { epoch, .. } => CallBegun { kind, id, epoch: *epoch }.emit(),
        CallFact::Accepted { epoch, .. } => CallAccepted { kind, id, epoch: *epoch }.emit(),
        CallFact::Evidence { epoch, evidence, late } => {
            let (epoch, evidence) = (*epoch, evidence.class());
            if *late {
                CallLate { kind, id, epoch, evidence }.emit();
            } else {
                CallAnswered { kind, id, epoch, evidence }.emit();
            }
        }
        CallFact::Parked { worker, .. } => {
            DoubtParked { kind, id, worker: worker.class() }.emit();
        }
        CallFact::CutOff { .. } => DoubtCutOff { kind, id }.emit(),
        CallFact::WorkerEnded { .. } => DoubtWorkerEnded { kind, id }.emit(),
        CallFact::Confirmed { overridden: true, .. } => {
            DoubtOverridden { kind, id, actor }.emit();
        }
        CallFact::Confirmed { applied, .. } => {
            DoubtConfirmed { kind, id, applied: *applied, actor }.emit();
        }
        CallFact::Decided { approved: true, .. } => GateApproved { kind, id, actor }.emit(),
        CallFact::Decided { .. } => GateDeclined { kind, id, actor }.emit(),
        CallFact::Answered { .. } => QuestionAnswered { kind, id, actor }.emit(),
        CallFact::Closed { .. } => CallClosed { kind, id }.emit(),
        // The permit says the same.
        CallFact::Held { .. } | CallFact::Acknowledged { .. } => {}
    }
}

/// A gate that was asked, or that ends without an answer. Only its context says that it is one.
fn gate(machine: &dyn Durable, id: Id, entries: &[Entry]) {
    let is_new = entries.iter().any(|entry| matches!(entry.fact, Fact::Created { .. }));
    let ended = entries.iter().find_map(|entry| match &entry.fact {
        Fact::Moved { from, trigger, .. } if from == Status::Waiting.as_str() => {
            match trigger.as_ref() {
                "timeout" => Some(true),
                "cancel" => Some(false),
                _ => None,
            }
        }
        _ => None,
    });
    if !is_new && ended.is_none() {
        return;
    }
    let part = &machine.journal().stored().summary.context;
    let folded = machine.__rules().__fold(part, entries);
    if !folded.is_ok_and(|folded| folded.after.approves.is_some()) {
        return;
    }
    let (kind, id) = (machine.definition().name.as_ref(), || display(id));
    if is_new {
        GateAsked { kind, id: id() }.emit();
    }
    match ended {
        Some(true) => GateExpired { kind, id: id() }.emit(),
        Some(false) => GateWithdrawn { kind, id: id() }.emit(),
        None => {}
    }
}
