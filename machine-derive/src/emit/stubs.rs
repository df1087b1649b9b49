use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    names::{self, Names},
    states,
};
use crate::{
    model::{Graph, State},
    parse::Item,
};

/// The user's types after a mistake, just good enough that code which uses them still resolves:
/// one mistake makes one error.
pub(crate) fn stubs(graph: &Graph<'_>) -> TokenStream {
    let names = Names::of(graph);
    let Names { typed, any, context, .. } = &names;
    let derives = &graph.declaration.derives;
    // Serde's derives would look at types that may be the mistake; nobody runs this code.
    let derives: Vec<_> = derives
        .iter()
        .filter(|path| path.segments.last().is_none_or(|last| last.ident == "Debug"))
        .collect();
    let all: Vec<_> = graph.states.iter().map(State::name).collect();
    let items = graph.states.iter().map(|state| {
        let item = states::item(state);
        quote!(#[derive(#(#derives),*)] #item)
    });
    let constructor = graph.states.get(graph.initial).map(|initial| {
        let name = initial.name();
        let context = Names::has_context(graph).then(|| quote!(_: #context,));
        let types = initial.written.fields.iter().map(|field| &field.ty);
        quote! {
            impl #typed<#name> {
                pub fn new(#context #(_: #types),*) -> Self {
                    loop {}
                }
            }
        }
    });
    let methods = methods(graph, &names);
    let events = graph.triggers.iter().map(|trigger| {
        let name = names::event(trigger);
        let fields = trigger.brought.iter().map(|brought| {
            let (name, ty) = (brought.name, brought.ty);
            quote!(#name: #ty)
        });
        quote!(#name { #(#fields),* })
    });
    let items = quote! {
        #[derive(Debug)]
        pub struct #typed<S>(S);
        #[derive(Debug)]
        pub enum #any { #(#all(#typed<#all>)),* }
        #(#items)*
        #constructor
        impl<S> #typed<S> {
            #methods
            pub fn state(&self) -> &S {
                &self.0
            }
        }
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Status { #(#all),* }
        pub enum Event { #(#events),* }
    };
    names.module(graph, &items)
}

/// A method per trigger as it is written, whether or not it could be resolved.
fn methods(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let typed = &names.typed;
    let written = || graph.states.iter().flat_map(|state| &state.written.transitions);
    let mut methods = TokenStream::new();
    for (position, transition) in written().enumerate() {
        let name = &transition.trigger;
        if written().take(position).any(|earlier| earlier.trigger == *name) {
            continue;
        }
        let mut same = written().filter(|other| other.trigger == *name);
        let restricted = same.any(|other| !other.by.is_empty());
        let known = graph.states.iter().find(|state| *state.name() == transition.target);
        let Some(to) = known.or(graph.states.first()).map(State::name) else { continue };
        let brought =
            transition.payload.iter().filter(|item| !matches!(item, Item::Computed(..))).count();
        let generics: Vec<_> = (0..brought).map(|index| format_ident!("T{index}")).collect();
        let actor = restricted.then(|| quote!(A));
        let by = restricted.then(|| quote!(_: &A));
        methods.extend(quote! {
            pub fn #name<#(#generics,)* #actor>(self, #(_: #generics,)* #by) -> #typed<#to> {
                loop {}
            }
        });
    }
    methods
}
