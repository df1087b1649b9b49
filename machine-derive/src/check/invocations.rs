//! The rules of `#[invoke(..)]`: one function per rule.

use std::{collections::BTreeSet, ptr};

use syn::Ident;

use super::once_each;
use crate::{
    errors::Errors,
    message,
    model::{Graph, Move, State},
    parse::{Approve, Invoke},
    role::Role,
    text::bare,
};

pub(super) fn all(graph: &Graph<'_>, errors: &mut Errors) {
    for state in &graph.states {
        let Some(invoke) = &state.written.invoke else { continue };
        if graph.declaration.options.durable.is_none() {
            errors.on(&invoke.name, message::invoke_in_a_plain_machine(&invoke.name));
        } else if state.written.terminal {
            let text = message::invoke_in_a_terminal_state(&invoke.name, state.name());
            errors.on(&invoke.name, text);
        } else {
            tool_is_known(state, invoke, errors);
            outcomes_leave_the_state(graph, state, invoke, errors);
            outcomes_fit_the_call(invoke, errors);
            outcomes_have_one_role(invoke, errors);
            outcomes_bring_what_is_taken(graph, invoke, errors);
            approval_is_needed_or_not(invoke, errors);
        }
    }
    outcomes_are_taken_where_they_arise(graph, errors);
    detached_moves_leave(graph, errors);
}

fn tool_is_known(state: &State<'_>, invoke: &Invoke, errors: &mut Errors) {
    if state.invocation.is_none() && !state.written.unnamed {
        let fields = state.written.field_names();
        let text = message::invoked_is_no_field(&invoke.name, state.name(), &fields);
        errors.on(&invoke.name, text);
    }
}

/// A transition that could not be read, or has another mistake, counts.
fn outcomes_leave_the_state(
    graph: &Graph<'_>,
    state: &State<'_>,
    invoke: &Invoke,
    errors: &mut Errors,
) {
    let written = state.written.transitions.iter().chain(&state.written.unreadable);
    let options = &graph.declaration.options;
    let several = options.from_several.iter().filter(|(names, _)| state.written.is_among(names));
    let several = several.map(|(_, transition)| transition).chain(&options.unreadable);
    let triggers: Vec<&Ident> = written.chain(several).map(|leaving| &leaving.trigger).collect();
    for outcome in &invoke.outcomes {
        let trigger = &outcome.trigger;
        if !triggers.contains(&trigger) {
            errors.on(trigger, message::unknown_outcome(trigger, state.name(), &triggers));
        }
    }
}

/// A single call has both triggers or none; a set has no `failed`, and `each` needs `done` for the
/// end.
fn outcomes_fit_the_call(invoke: &Invoke, errors: &mut Errors) {
    let (name, unfit) = (&invoke.name, unfit_role(invoke));
    if let Some(trigger) = invoke.trigger(unfit) {
        let text = match unfit {
            Role::Failed => message::failed_of_a_set(name),
            Role::Done | Role::Each => message::each_of_one(name),
        };
        return errors.on(trigger, text);
    }
    for (given, missing) in
        [(Role::Each, Role::Done), (Role::Done, Role::Failed), (Role::Failed, Role::Done)]
    {
        if missing != unfit
            && let (Some(trigger), None) = (invoke.trigger(given), invoke.trigger(missing))
        {
            let text = message::outcome_missing(name, given.key(), missing.key());
            errors.on(trigger, text);
        }
    }
}

/// The role that such a call does not have.
fn unfit_role(invoke: &Invoke) -> Role {
    if invoke.is_set { Role::Failed } else { Role::Each }
}

fn outcomes_have_one_role(invoke: &Invoke, errors: &mut Errors) {
    for (place, outcome) in invoke.outcomes.iter().enumerate() {
        let mut before = invoke.outcomes[..place].iter();
        let other = before.find(|other| other.trigger == outcome.trigger);
        // An option that is given twice was reported as such.
        if let Some(other) = other.filter(|other| other.role != outcome.role) {
            let (role, other) = (outcome.role.key(), other.role.key());
            errors.on(&outcome.trigger, message::outcome_twice(&outcome.trigger, role, other));
        }
    }
}

fn outcomes_bring_what_is_taken(graph: &Graph<'_>, invoke: &Invoke, errors: &mut Errors) {
    let unfit = unfit_role(invoke);
    for outcome in invoke.outcomes.iter().filter(|outcome| outcome.role != unfit) {
        let Some(trigger) = graph.trigger_index.get(&bare(&outcome.trigger)) else { continue };
        let trigger = &graph.triggers[*trigger];
        let (role, items) = (outcome.role, trigger.brought.len());
        if items != role.items() {
            let text = message::outcome_takes(trigger.name, items, role, invoke.is_set);
            errors.on(trigger.name, text);
        }
    }
}

/// A trigger that takes outcomes takes nothing else.
fn outcomes_are_taken_where_they_arise(graph: &Graph<'_>, errors: &mut Errors) {
    let mut reported = BTreeSet::new();
    for state in &graph.states {
        let Some(invoke) = &state.written.invoke else { continue };
        for outcome in &invoke.outcomes {
            let Some(trigger) = graph.trigger_index.get(&bare(&outcome.trigger)) else { continue };
            for step in graph.moves_of(*trigger) {
                let (name, source) = (&step.written.trigger, &graph.states[step.from]);
                let taken = source.written.invoke.as_ref().is_some_and(|own| own.takes(name));
                if !taken && reported.insert(ptr::from_ref(step.written)) {
                    let text =
                        message::outcome_elsewhere(name, source.name(), &invoke.name, state.name());
                    errors.on(name, text);
                }
            }
        }
    }
}

/// What is said of the approval does not contradict it.
fn approval_is_needed_or_not(invoke: &Invoke, errors: &mut Errors) {
    let name = &invoke.name;
    if let (Some(expires), None) = (&invoke.expires, &invoke.approve) {
        errors.on(expires, message::expires_without_approval(name));
    }
    if let (Some(unattended), Some(Approve::Always)) = (invoke.unattended, &invoke.approve) {
        errors.at(unattended, message::unattended_and_approved(name));
    }
}

/// Only what leaves a state of a durable machine can leave something behind. One that cannot be
/// resolved counts.
fn detached_moves_leave(graph: &Graph<'_>, errors: &mut Errors) {
    let is_plain = graph.declaration.options.durable.is_none();
    let stays =
        |step: &Move<'_>| !step.leads.is_empty() && step.leads.iter().all(|target| target.stays);
    for written in once_each(graph.moves.iter()).map(|step| step.written) {
        let Some(detach) = &written.detach else { continue };
        let mut own = graph.moves.iter().filter(|step| ptr::eq(step.written, written));
        if is_plain || own.all(stays) {
            errors.on(detach, message::detach_without_leaving(&written.trigger));
        }
    }
}
