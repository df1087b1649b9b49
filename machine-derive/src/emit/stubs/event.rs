use proc_macro2::TokenStream;
use quote::quote;

use super::written::{self, Brought};
use crate::{
    emit::{
        event::derived,
        names::{self, Names},
        params::Used,
    },
    model::Graph,
};

/// The triggers with their payloads, as far as they could be parsed.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let derived = derived(graph);
    let variants = written::first_of_each_event(graph).into_iter().map(|transition| {
        let name = names::variant(&transition.trigger);
        let mut fields = transition.payload.iter().enumerate().filter_map(|(position, item)| {
            let name = &item.name;
            // A duplicate item was already reported.
            if transition.payload[..position].iter().any(|other| other.name == *name) {
                return None;
            }
            Some(match written::brought(graph, transition, item)? {
                Brought::Type(ty) => quote!(#name: #ty),
                Brought::Unknown => quote!(#name: ()),
            })
        });
        let first = fields.next();
        let body = first.map(|first| quote!({ #first #(, #fields)* }));
        quote!(#name #body)
    });
    let used = used(graph, names);
    let generics = names.params.declare(&[], &used);
    let predicates = names.params.where_clause(&used);
    let event = ty(graph, names);
    quote! {
        #[derive(#(#derived),*)]
        pub enum Event #generics #predicates { #(#variants),* }

        impl #generics #event #predicates {
            pub fn trigger(&self) -> &'static str {
                loop {}
            }
        }
    }
}

/// `Event<T>`
pub(super) fn ty(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let args = names.params.apply(&[], &used(graph, names));
    quote!(Event #args)
}

/// The parameters that payloads use.
fn used(graph: &Graph<'_>, names: &Names<'_>) -> Used {
    let types = written::first_of_each_event(graph).into_iter().flat_map(|transition| {
        let items = transition.payload.iter();
        items.filter_map(|item| match written::brought(graph, transition, item)? {
            Brought::Type(ty) => Some(ty),
            Brought::Unknown => None,
        })
    });
    names.params.in_types(types)
}
