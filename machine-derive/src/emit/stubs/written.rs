use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Type};

use crate::{
    emit::names,
    model::{Graph, is_reserved},
    parse::{Item, ItemKind, Transition},
    text::bare,
};

/// Every transition, as far as it could be parsed.
pub(super) fn all<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Transition> {
    let options = &graph.declaration.options;
    let of_states = graph
        .states
        .iter()
        .flat_map(|state| state.written.transitions.iter().chain(&state.written.unreadable));
    let of_groups = options.from_groups.iter().map(|(_, transition)| transition);
    of_states.chain(of_groups).chain(&options.unreadable)
}

/// The first transition of each trigger.
pub(super) fn first_of_each<'a>(graph: &'a Graph<'_>) -> Vec<&'a Transition> {
    let mut first: Vec<&Transition> = Vec::new();
    for transition in all(graph) {
        let name = bare(&transition.trigger);
        let known = first.iter().any(|known| bare(&known.trigger) == name);
        if !known && !is_reserved(&transition.trigger) {
            first.push(transition);
        }
    }
    first
}

/// The first transition of each event. Triggers whose events collide were already reported.
pub(super) fn first_of_each_event<'a>(graph: &'a Graph<'_>) -> Vec<&'a Transition> {
    let mut first = first_of_each(graph);
    let mut seen = BTreeSet::new();
    first.retain(|transition| seen.insert(names::variant(&transition.trigger)));
    first
}

/// What is known about a payload item from the caller.
pub(super) enum Brought<'a> {
    Type(&'a Type),
    /// The target has no such field.
    Unknown,
}

/// What the caller passes for one payload item, if anything.
pub(super) fn brought<'a>(
    graph: &Graph<'a>,
    transition: &'a Transition,
    item: &'a Item,
) -> Option<Brought<'a>> {
    match &item.kind {
        ItemKind::Computed(_) => None,
        ItemKind::Noted(ty) => Some(Brought::Type(ty)),
        ItemKind::Field => {
            let targets = transition.leads.targets();
            // `Self` could be any state: the first with such a field is the best guess.
            let stays = targets.iter().any(|target| target.stays());
            let states = graph.states.iter().filter(|state| {
                stays || targets.iter().any(|target| *state.name() == target.state)
            });
            let mut fields = states.flat_map(|state| &state.written.fields);
            let field = fields.find(|field| field.name == item.name);
            Some(field.map_or(Brought::Unknown, |field| Brought::Type(&field.ty)))
        }
    }
}

/// Method parameters: of the known types, and generic for the rest.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) generics: Vec<Ident>,
    pub(super) types: Vec<TokenStream>,
}

impl Taken {
    pub(super) fn of<'a>(all: impl Iterator<Item = Brought<'a>>) -> Self {
        let mut taken = Self::default();
        for brought in all {
            match brought {
                Brought::Type(ty) => taken.types.push(quote!(#ty)),
                Brought::Unknown => {
                    let generic = format_ident!("__T{}", taken.generics.len());
                    taken.types.push(quote!(#generic));
                    taken.generics.push(generic);
                }
            }
        }
        taken
    }
}
