use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
use crate::model::{Graph, Move, Source, bare};

/// A method per legal move, on the state that it leaves, and nowhere else.
///
/// The work stands in a function beside it, which the erased machine calls as well: one code, so
/// that the two forms cannot come to differ.
pub(super) fn emit(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let moves = graph.moves.iter().enumerate().map(|(edge, step)| {
        let method = method(graph, names, step);
        let function = function(graph, names, edge, step);
        quote!(#method #function)
    });
    quote!(#(#moves)*)
}

fn method(graph: &Graph<'_>, names: &Names, step: &Move<'_>) -> TokenStream {
    let typed = &names.typed;
    let (from, to) = (&graph.states[step.from], &graph.states[step.to]);
    let (from_name, to_name) = (from.name(), to.name());
    let trigger = &graph.triggers[step.trigger];
    let name = trigger.name;
    let function = names::step(from, trigger);
    let items = trigger.brought.iter().map(|brought| brought.name);
    let params = trigger.brought.iter().map(|brought| {
        let (name, ty) = (brought.name, brought.ty);
        quote!(#name: #ty)
    });
    let about = format!("{} to {}.", from.label, to.label);

    let may = names::may(trigger);
    let restricted = !step.by.is_empty();
    let generics = restricted.then(|| quote!(<A: #may<#from_name>>));
    let by = restricted.then(|| quote!(by: &A));
    let actor = match (names.durable, restricted) {
        (false, _) => quote!(),
        (true, false) => quote!(::core::option::Option::None),
        (true, true) => {
            quote!(::core::option::Option::Some(<A as ::machine::actor::Actor>::KIND))
        }
    };
    quote! {
        impl #typed<#from_name> {
            #[doc = #about]
            pub fn #name #generics (self, #(#params,)* #by) -> #typed<#to_name> {
                #function(self, #(#items,)* #actor)
            }
        }
    }
}

fn function(graph: &Graph<'_>, names: &Names, edge: usize, step: &Move<'_>) -> TokenStream {
    let typed = &names.typed;
    let (from, to) = (&graph.states[step.from], &graph.states[step.to]);
    let (from_name, to_name) = (from.name(), to.name());
    let trigger = &graph.triggers[step.trigger];
    let function = names::step(from, trigger);
    let params = trigger.brought.iter().map(|brought| {
        let (name, ty) = (brought.name, brought.ty);
        quote!(#name: #ty)
    });

    let journal = names.durable.then(|| {
        let items = trigger.brought.iter().map(|brought| {
            let (name, text) = (brought.name, bare(brought.name));
            quote!(.__with(#text, &#name))
        });
        quote! {
            let mut core = machine.core;
            let payload =
                <::machine::__private::Payload as ::core::default::Default>::default() #(#items)*;
            core.journal.__moved(DEFINITION, #edge, actor, payload);
        }
    });
    let actor = names.durable.then(|| quote!(actor: ::core::option::Option<&'static str>));
    let kept = match (names.durable, Names::has_context(graph)) {
        (true, _) => quote!(core,),
        (false, true) => quote!(context: machine.context,),
        (false, false) => quote!(),
    };

    // Fields of the source are bound only where something uses them.
    let uses_source = step.fields.iter().any(|(_, source)| !matches!(source, Source::Brought));
    let open = uses_source.then(|| {
        let fields = from.written.fields.iter().map(|field| &field.ident);
        if from.written.fields.is_empty() {
            quote!()
        } else {
            quote!(let #from_name { #(#fields),* } = machine.state;)
        }
    });
    // Computed fields come first: they may look at fields that are then carried away.
    let computed = step.fields.iter().filter_map(|(field, source)| match source {
        Source::Computed(expr) => {
            let (name, ty) = (&field.ident, &field.ty);
            let fresh = computed_name(name.as_ref()?);
            Some(quote!(let #fresh: #ty = #expr;))
        }
        Source::Brought | Source::Carried => None,
    });
    let fields = step.fields.iter().filter_map(|(field, source)| {
        let name = field.ident.as_ref()?;
        Some(match source {
            Source::Computed(_) => {
                let fresh = computed_name(name);
                quote!(#name: #fresh)
            }
            Source::Brought | Source::Carried => quote!(#name),
        })
    });
    let state =
        if step.fields.is_empty() { quote!(#to_name) } else { quote!(#to_name { #(#fields),* }) };
    quote! {
        fn #function(
            machine: #typed<#from_name>,
            #(#params,)*
            #actor
        ) -> #typed<#to_name> {
            #journal
            #open
            #(#computed)*
            #typed { #kept state: #state }
        }
    }
}

fn computed_name(field: &syn::Ident) -> syn::Ident {
    quote::format_ident!("__{}", bare(field))
}
