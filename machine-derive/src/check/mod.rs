//! The rules that a graph must keep: one function per rule.

mod invocations;
mod marks;
mod names;

use std::{collections::BTreeSet, ptr};

use syn::Ident;

use crate::{
    errors::Errors,
    message,
    model::{Graph, Move},
    parse::Upgrade,
};

pub(crate) fn all(graph: &Graph<'_>, errors: &mut Errors) {
    data_have_their_feature(graph, errors);
    durable_is_serializable(graph, errors);
    durable_is_of_one_type(graph, errors);
    own_deadlines_start_again(graph, errors);
    names::was_is_unique(graph, errors);
    marks::go_by_names(graph, errors);
    marks::fields_are_stored(graph, errors);
    upgrades_fit_the_version(graph, errors);
    invocations::all(graph, errors);
    // A transition that could not be parsed is missing from the graph: do not report the paths
    // that it would have made.
    if errors.is_empty() {
        every_state_is_reachable(graph, errors);
        no_dead_end(graph, errors);
    }
    // Report a dead end once, not every state that only leads there.
    if errors.is_empty() {
        every_state_leads_to_an_end(graph, errors);
        only_after(graph, errors);
    }
}

/// Without this feature, the library can neither store nor serialize a machine.
fn data_have_their_feature(graph: &Graph<'_>, errors: &mut Errors) {
    if cfg!(feature = "durable") {
        return;
    }
    let declaration = graph.declaration;
    let derived = ["Serialize", "Deserialize"].into_iter().find(|name| graph.derives(name));
    if let Some(durable) = declaration.options.durable {
        errors.at(durable, message::without_feature("durable"));
    } else if let Some(derived) = derived {
        errors.on(&declaration.name, message::without_feature(derived));
    }
}

fn durable_is_serializable(graph: &Graph<'_>, errors: &mut Errors) {
    let Some(durable) = graph.declaration.options.durable else { return };
    if !graph.derives("Serialize") || !graph.derives("Deserialize") {
        errors.at(durable, message::not_serializable());
    }
}

fn durable_is_of_one_type(graph: &Graph<'_>, errors: &mut Errors) {
    let generics = &graph.declaration.generics;
    if graph.declaration.options.durable.is_some() && !generics.params.is_empty() {
        errors.on(generics, message::durable_generic());
    }
}

/// An upgrade leads from an older version, and there is one from each.
fn upgrades_fit_the_version(graph: &Graph<'_>, errors: &mut Errors) {
    let options = &graph.declaration.options;
    let version = options.version.unwrap_or(1);
    let mut check = |upgrades: &[Upgrade]| {
        for (position, upgrade) in upgrades.iter().enumerate() {
            let from = upgrade.from;
            if options.durable.is_none() {
                errors.on(&upgrade.number, message::upgrade_of_a_plain_machine());
            } else if from == 0 {
                errors.on(&upgrade.number, message::upgrade_from_zero());
            } else if from >= version {
                errors.on(&upgrade.number, message::upgrade_from_the_future(from, version));
            } else if upgrades[..position].iter().any(|other| other.from == from) {
                errors.on(&upgrade.number, message::upgrade_twice(from));
            }
        }
    };
    check(&options.upgrades);
    for state in &graph.states {
        check(&state.written.upgrades);
    }
    if options.context.is_none()
        && options.durable.is_some()
        && let Some(upgrade) = options.upgrades.first()
    {
        errors.on(&upgrade.number, message::upgrade_without_context());
    }
}

/// A deadline that fired is over until its state or group is entered, which `Self` does not do. A
/// group has other ways to be entered; for a state's own deadline it is a mistake.
fn own_deadlines_start_again(graph: &Graph<'_>, errors: &mut Errors) {
    let own =
        graph.moves.iter().filter(|step| step.group.is_none() && step.written.after.is_some());
    for Move { written, from, .. } in once_each(own) {
        let state = graph.states[*from].name();
        for target in written.leads.targets().into_iter().filter(|target| target.stays()) {
            errors.on(&target.state, message::deadline_stays(&written.trigger, state));
        }
    }
}

/// The first move of each transition, which may be one of several states.
fn once_each<'g, 'a: 'g>(
    moves: impl Iterator<Item = &'g Move<'a>>,
) -> impl Iterator<Item = &'g Move<'a>> {
    let mut seen = BTreeSet::new();
    moves.filter(move |step| seen.insert(ptr::from_ref(step.written)))
}

fn every_state_is_reachable(graph: &Graph<'_>, errors: &mut Errors) {
    let reachable = graph.reachable(graph.initial);
    let names = state_names(graph, reachable.iter().copied());
    let lost = |state: &usize| !reachable.contains(state);
    for (index, state) in graph.states.iter().enumerate().filter(|(index, _)| lost(index)) {
        // A state that another unreachable one leads to is reachable once that one is.
        let follows = (0..graph.states.len()).filter(lost).any(|other| {
            let back = graph.reachable(index).contains(&other);
            graph.reachable(other).contains(&index) && (!back || other < index)
        });
        if !follows {
            errors.on(state.name(), message::unreachable(state.name(), &names));
        }
    }
}

fn no_dead_end(graph: &Graph<'_>, errors: &mut Errors) {
    for (index, state) in graph.states.iter().enumerate() {
        if !state.written.terminal && graph.leaving(index).next().is_none() {
            errors.on(state.name(), message::dead_end(state.name()));
        }
    }
}

/// From every state a terminal one can be reached or, in a machine without, the initial one.
fn every_state_leads_to_an_end(graph: &Graph<'_>, errors: &mut Errors) {
    let is_terminal = |state: &usize| graph.states[*state].written.terminal;
    let ends = (0..graph.states.len()).any(|state| is_terminal(&state));
    let is_end = |state: &usize| if ends { is_terminal(state) } else { *state == graph.initial };
    let well = graph.leads_to((0..graph.states.len()).filter(is_end).collect());
    for (index, state) in graph.states.iter().enumerate() {
        if well.contains(&index) {
            continue;
        }
        let reachable = graph.reachable(index);
        // A trap is reported for its first state; the states that lead into it follow from that.
        let mut others = reachable.iter().filter(|other| **other != index);
        if others.any(|other| *other < index || !graph.reachable(*other).contains(&index)) {
            continue;
        }
        let others = state_names(graph, reachable.iter().copied().filter(|other| *other != index));
        let text = if ends {
            message::no_way_out(state.name(), &others)
        } else {
            message::no_way_back(state.name(), graph.states[graph.initial].name(), &others)
        };
        errors.on(state.name(), text);
    }
}

/// Every path from the initial state passes one of the named states.
fn only_after(graph: &Graph<'_>, errors: &mut Errors) {
    for (index, state) in graph.states.iter().enumerate() {
        for gates in &state.written.only_after {
            let Some(avoid) = states_named(graph, gates, errors) else { continue };
            // A machine that begins in one of them has passed it already.
            if avoid.contains(&graph.initial) {
                continue;
            }
            let path = if index == graph.initial {
                Some(format!("the machine begins in {}", state.label))
            } else {
                graph.path(graph.initial, index, &avoid, |_, _| true)
            };
            if let Some(path) = path {
                let span = gates.first().map_or(state.name().span(), Ident::span);
                errors.at(span, message::not_only_after(state.name(), gates, &path));
            }
        }
    }
}

/// The states of these names, where a group stands for all of its states; reports unknown names.
fn states_named(graph: &Graph<'_>, wanted: &[Ident], errors: &mut Errors) -> Option<Vec<usize>> {
    let (before, mut found) = (errors.len(), Vec::new());
    for name in wanted {
        let known = found.len();
        let states = 0..graph.states.len();
        found.extend(states.filter(|state| graph.states[*state].written.is_called(name)));
        if found.len() == known {
            errors.on(name, message::unknown_state(name, &graph.names()));
        }
    }
    (errors.len() == before).then_some(found)
}

fn state_names<'a>(graph: &Graph<'a>, states: impl IntoIterator<Item = usize>) -> Vec<&'a Ident> {
    states.into_iter().map(|state| graph.states[state].name()).collect()
}
