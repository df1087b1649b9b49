//! The deadlines that start with an entry into a state.

use proc_macro2::TokenStream;

use super::names::{self, Names};
use crate::model::Move;

/// The deadlines that start when a machine enters a state: the state's own and, unless the state
/// that it comes from is in the group already, those of groups. Each is an edge with a duration.
pub(super) fn on_entry(names: &Names<'_>, from: Option<usize>, to: usize) -> Vec<TokenStream> {
    let groups = from.map_or(&[][..], |from| &names.graph.states[from].written.groups);
    let starts = names.graph.deadlines(to);
    let starts = starts.filter(|step| step.group.is_none_or(|group| !groups.contains(group)));
    let started = starts.map(|step| {
        let edge = names::index(step.first_edge);
        let after = call(names, step, &hygienic!(&state), &hygienic!(core.__context()));
        hygienic!((#edge, #after))
    });
    started.collect()
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
