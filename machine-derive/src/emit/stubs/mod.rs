//! Stubs of the user's types after a mistake, so that code which uses them still compiles: one
//! mistake makes one error. This code never runs.

mod choice;
mod durable;
mod erased;
mod event;
mod imports;
mod typed;
mod written;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, ItemEnum};

use super::names::{self, Names};
use crate::{
    model::{Graph, State, is_reserved_state},
    parse::Transition,
};

pub(crate) fn stubs(graph: &Graph<'_>) -> TokenStream {
    let names = Names::of_stubs(graph);
    names.module(graph, &items(graph, &names))
}

/// The stubs, and the enum in the place of the typed machine, for what was derived for it. It has the
/// constructor, which leads into the stubs.
pub(crate) fn stubs_beside_the_enum(graph: &Graph<'_>, mut item: ItemEnum) -> TokenStream {
    let names = Names::of_stubs(graph);
    item.attrs.clear();
    for variant in &mut item.variants {
        variant.attrs.clear();
        variant.fields.iter_mut().for_each(|field| field.attrs.clear());
    }
    let typed = &names.typed;
    let constructor = graph.states.get(graph.initial).filter(|_| names.params.is_empty());
    let constructor = constructor.map(|initial| {
        let context = Names::has_context(graph).then_some(&names.context).into_iter();
        let fields = initial.written.fields.iter().map(|field| &field.ty);
        let made = names.typed_in(initial);
        quote! {
            impl super::#typed {
                pub fn new(#(_: #context,)* #(_: #fields),*) -> #made {
                    loop {}
                }
            }
        }
    });
    let items = items(graph, &names);
    let module = names.module_with(graph, &quote!(#items #constructor), &[&names.any]);
    quote! {
        #[allow(dead_code)]
        #item
        #module
    }
}

fn items(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    // A duplicate state was already reported; emitting it would report it again.
    let mut states: Vec<&State<'_>> = Vec::new();
    for state in &graph.states {
        if states.iter().all(|known| known.name() != state.name()) {
            states.push(state);
        }
    }
    let parts = [
        definition(graph),
        typed::emit(graph, names, &states),
        erased::emit(graph, names, &states),
        event::emit(graph, names),
        choice::emit(graph, names),
        actors(graph),
        groups(graph),
        imports::emit(graph),
        durable::emit(names),
    ];
    quote!(#(#parts)*)
}

fn definition(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    quote! {
        pub const DEFINITION: &__machine::definition::Definition =
            &__machine::__private::rows::definition(#name, "", 1, "", &[], &[], &[], &[], 0, &[], &[]);
    }
}

/// The actors' types are named, so that their imports are not reported as unused.
fn actors(graph: &Graph<'_>) -> TokenStream {
    let named = graph.declaration.transitions().flat_map(Transition::actors);
    let traits = written::first_of_each_event(graph).into_iter().filter_map(|transition| {
        let may = format_ident!("May{}", names::variant(&transition.trigger));
        // A state or a group of that name was already reported, and is emitted.
        let mut taken =
            graph.states.iter().flat_map(|state| state.written.groups.iter().chain([state.name()]));
        taken.all(|name| *name != may).then(|| {
            quote! {
                pub trait #may<From> {}
                impl<From, Any> #may<From> for Any {}
            }
        })
    });
    quote! {
        const _: () = {
            #(let _: ::core::option::Option<#named> = ::core::option::Option::None;)*
        };
        #(#traits)*
    }
}

/// One trait per group, known or not, that every type implements.
fn groups(graph: &Graph<'_>) -> TokenStream {
    let of_states = graph.states.iter().flat_map(|state| &state.written.groups);
    let of_options = graph.declaration.options.from_groups.iter().map(|(group, _)| group);
    let mut groups: Vec<&Ident> = Vec::new();
    for group in of_states.chain(of_options) {
        let taken = graph.states.iter().any(|state| state.name() == group)
            || is_reserved_state(graph.declaration, group);
        if !taken && !groups.contains(&group) {
            groups.push(group);
        }
    }
    quote! {
        #(
            pub trait #groups {}
            impl<Any> #groups for Any {}
        )*
    }
}
