//! The deadlines that start with an entry into a state.

use proc_macro2::{Ident, TokenStream};

use super::names::{self, Names};
use crate::model::Move;

/// The calls for the deadlines that start when a machine goes from one state to another: the
/// state's own, and those of the groups that it enters.
pub(super) fn on_entry(names: &Names<'_>, from: usize, to: usize) -> Vec<TokenStream> {
    let is_in =
        |state: usize, group: &Ident| names.graph.states[state].written.groups.contains(group);
    names
        .graph
        .deadlines(to)
        .filter(|step| step.group.is_none_or(|group| !is_in(from, group)))
        .map(|step| started_by(names, step))
        .collect()
}

/// The calls for the deadlines that start with a new machine.
pub(super) fn at_creation(names: &Names<'_>) -> Vec<TokenStream> {
    names.graph.deadlines(names.graph.initial).map(|step| started_by(names, step)).collect()
}

/// The edge that a deadline fires, and how long it runs.
fn started_by(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let edge = names::index(step.first_edge);
    let after = call(names, step, &hygienic!(&state), &hygienic!(core.__context()));
    hygienic!((#edge, #after))
}

/// Passes the types and constants explicitly: the state may not mention all of them.
pub(super) fn call(
    names: &Names<'_>,
    step: &Move<'_>,
    state: &TokenStream,
    context: &TokenStream,
) -> TokenStream {
    let function = names::deadline(step);
    let context = names.has_context().then_some(context);
    let params = names.params.turbofish();
    hygienic!(#function #params (#state, #context))
}
