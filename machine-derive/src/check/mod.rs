//! The rules that a graph must keep: one function per rule.

use crate::{errors::Errors, message, model::Graph};

/// Reports every broken rule.
pub(crate) fn all(graph: &Graph<'_>, errors: &mut Errors) {
    durable_is_serializable(graph, errors);
    terminal_is_never_left(graph, errors);
    // A transition that could not be read is missing here: paths through it would be mourned too.
    if errors.is_empty() {
        every_state_is_reachable(graph, errors);
        no_dead_end(graph, errors);
    }
}

fn durable_is_serializable(graph: &Graph<'_>, errors: &mut Errors) {
    let Some(durable) = graph.declaration.options.durable else { return };
    let derives = |name: &str| {
        let mut derives = graph.declaration.derives.iter();
        derives.any(|path| path.segments.last().is_some_and(|last| last.ident == name))
    };
    if !derives("Serialize") || !derives("Deserialize") {
        errors.at(durable, message::not_serializable());
    }
}

fn terminal_is_never_left(graph: &Graph<'_>, errors: &mut Errors) {
    for step in &graph.moves {
        let state = &graph.states[step.from];
        if state.written.terminal {
            let trigger = graph.triggers[step.trigger].name;
            errors.at(step.span, message::exit_from_terminal(state.name(), trigger));
        }
    }
}

fn every_state_is_reachable(graph: &Graph<'_>, errors: &mut Errors) {
    let reachable = graph.reachable();
    let names: Vec<_> = reachable.iter().map(|state| graph.states[*state].name()).collect();
    for (index, state) in graph.states.iter().enumerate() {
        if !reachable.contains(&index) {
            errors.at(state.name().span(), message::unreachable(state.name(), &names));
        }
    }
}

fn no_dead_end(graph: &Graph<'_>, errors: &mut Errors) {
    for (index, state) in graph.states.iter().enumerate() {
        if !state.written.terminal && graph.leaving(index).next().is_none() {
            errors.at(state.name().span(), message::dead_end(state.name()));
        }
    }
}
