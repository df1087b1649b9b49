use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::written;
use crate::{
    emit::names::{self, Names},
    message,
    model::{Graph, State},
    parse::Transition,
};

/// The enums that choices return, as far as they could be parsed.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let enums = written::first_of_each_event(graph).into_iter().filter_map(|transition| {
        let (name, ways) = (name(graph, transition)?, ways(graph, transition));
        let (any, state) = (names.any_type(), &names.state);
        let every = names.params.every();
        let declared = names.params.declare(&[quote!(#state)], &every);
        let predicates = names.params.where_clause(&every);
        let after = ty(names, &name, &quote!(#state));
        let typed = names.typed_with(quote!(#state));
        let variants = ways.iter().map(|way| {
            let to = graph.states.iter().find(|state| state.name() == way);
            let machine = to.map_or_else(|| typed.clone(), |state| names.typed_in(state));
            quote!(#way(#machine))
        });
        let debug = graph.derives("Debug").then(|| quote!(#[derive(Debug)]));
        // Without any variant a value of it would make what follows unreachable.
        let never = (!ways.is_empty()).then(|| quote!(::core::convert::Infallible)).into_iter();
        Some(quote! {
            #debug
            pub enum #name #declared #predicates {
                #(#variants,)*
                // Uses every parameter, and needs no arm in a `match`.
                #[doc(hidden)]
                __Stub(#(#never,)* #typed),
            }

            impl #declared ::core::convert::From<#after> for #any #predicates {
                fn from(_: #after) -> Self {
                    loop {}
                }
            }
        })
    });
    quote!(#(#enums)*)
}

/// The name of the enum, if the transition is a choice and the name is free.
pub(super) fn name(graph: &Graph<'_>, transition: &Transition) -> Option<Ident> {
    let name = format_ident!("After{}", names::variant(&transition.trigger));
    let mut taken =
        graph.states.iter().flat_map(|state| state.written.groups.iter().chain([state.name()]));
    (transition.leads.is_choice() && taken.all(|taken| *taken != name)).then_some(name)
}

/// The enum for a machine in this source state.
pub(super) fn ty(names: &Names<'_>, name: &Ident, state: &TokenStream) -> TokenStream {
    let args = names.params.apply(std::slice::from_ref(state), &names.params.every());
    quote!(#name #args)
}

/// The variants: those targets that are states, and `Self`.
fn ways(graph: &Graph<'_>, transition: &Transition) -> Vec<Ident> {
    let is_from = |other: &Transition| other.trigger == transition.trigger;
    let mut sources = graph.states.iter().filter(|state| {
        let groups = graph.declaration.options.from_groups.iter();
        let mut of_groups = groups.filter(|(group, _)| state.written.groups.contains(group));
        state.written.transitions.iter().any(is_from) || of_groups.any(|(_, other)| is_from(other))
    });
    let only =
        sources.next().filter(|_| sources.next().is_none()).map(|state| state.name().clone());
    let mut ways: Vec<Ident> = Vec::new();
    for target in transition.leads.targets() {
        let name = if target.stays() {
            only.clone().unwrap_or_else(|| format_ident!("Same"))
        } else {
            let states: Vec<&Ident> = graph.states.iter().map(State::name).collect();
            let known = states.contains(&&target.state);
            let meant = message::nearest(&target.state, &states).filter(|_| !known);
            meant.unwrap_or(&target.state).clone()
        };
        let known = target.stays() || graph.states.iter().any(|state| *state.name() == name);
        if known && !ways.contains(&name) {
            ways.push(name);
        }
    }
    ways
}
