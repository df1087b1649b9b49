//! The user's types after a mistake, without behaviour, so that code which uses them still
//! compiles: one mistake makes one error. This code never runs.
//!
//! Types, signatures and implementations come from the emitters of a correct machine. Only moves,
//! groups and permissions differ: any state and any actor may make each move, because the mistake
//! may be in who may make it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{File, Ident, ImplItem, Item, ItemEnum, ReturnType, TraitItem, Type};

use super::{
    choice, deadlines, durable, erased, event, fields, handlers, imports,
    names::{self, Names},
    states, status, transitions, typed,
};
use crate::{
    model::{Graph, Guess, deduplicated, is_reserved_state},
    parse::Declaration,
};

pub(crate) fn stubs(declaration: &Declaration) -> TokenStream {
    let guess = Guess::of(declaration);
    let names = Names::of_stubs(&guess.graph);
    names.module(&items(&guess, &names), &[&names.any, &names.typed])
}

/// The stubs, and the enum in place of the typed machine, because derives were expanded for it. It
/// has the constructor, which leads into the stubs.
pub(crate) fn stubs_beside_the_enum(declaration: &Declaration, mut item: ItemEnum) -> TokenStream {
    let guess = Guess::of(declaration);
    let names = Names::of_stubs(&guess.graph);
    item.attrs.clear();
    for variant in &mut item.variants {
        variant.attrs.clear();
        variant.fields.iter_mut().for_each(|field| field.attrs.clear());
    }
    let typed = &names.typed;
    let initial = &guess.graph.states[guess.graph.initial];
    let constructor = names.params.is_empty().then(|| {
        let context = names.has_context().then_some(&names.context).into_iter();
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
    let items = items(&guess, &names);
    let module = names.module(&quote!(#items #constructor), &[&names.any]);
    quote! {
        #[allow(dead_code)]
        #item
        #module
    }
}

fn items(guess: &Guess<'_>, names: &Names<'_>) -> TokenStream {
    let (graph, methods) = (&guess.graph, methods(guess, names));
    let emitted = [
        typed::emit(names),
        fields::emit(names),
        states::emit(names),
        choice::emit(names),
        deadlines::emit(names),
        status::emit(names),
        event::emit(names),
        erased::emit(names),
        durable::emit(names),
        handlers::emit(names),
    ];
    let emitted = without_bodies(quote!(#(#emitted)*));
    let (definition, actors, groups) = (definition(graph), actors(graph), groups(graph));
    let imports = imports::emit(graph);
    quote!(#definition #emitted #methods #actors #groups #imports)
}

fn without_bodies(items: TokenStream) -> TokenStream {
    let Ok(mut file) = syn::parse2::<File>(items.clone()) else { return items };
    file.items.iter_mut().for_each(empty);
    file.into_token_stream()
}

fn empty(item: &mut Item) {
    match item {
        Item::Fn(function) => *function.block = body(&function.sig.output),
        Item::Impl(block) => {
            for item in &mut block.items {
                if let ImplItem::Fn(function) = item {
                    function.block = body(&function.sig.output);
                }
            }
        }
        Item::Trait(declared) => {
            for item in &mut declared.items {
                if let TraitItem::Fn(function) = item
                    && let Some(block) = &mut function.default
                {
                    *block = body(&function.sig.output);
                }
            }
        }
        Item::Mod(module) => {
            module.content.iter_mut().flat_map(|(_, items)| items).for_each(empty);
        }
        _ => {}
    }
}

/// A loop, or an empty iterator: methods return no other `impl Trait`, which `!` does not
/// implement.
fn body(output: &ReturnType) -> syn::Block {
    match output {
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            syn::parse_quote!({ ::core::iter::empty() })
        }
        _ => syn::parse_quote!({ loop {} }),
    }
}

fn definition(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    quote! {
        pub const DEFINITION: &__machine::definition::Definition =
            &__machine::__private::rows::definition(#name, "", 1, "", &[], &[], &[], &[], 0, &[], &[]);
    }
}

/// One method per trigger for every state, even where the trigger is wrong in itself: its source
/// state may be the mistake.
fn methods(guess: &Guess<'_>, names: &Names<'_>) -> TokenStream {
    let graph = &guess.graph;
    let state = names.state.to_token_stream();
    let methods = guess.methods.iter().map(|(trigger, transition)| {
        let name = trigger.name;
        let by = guess.transitions(name).any(|other| !other.by.is_empty());
        let restricted = by || graph.takes_an_outcome(name);
        let by = restricted.then(|| quote!(_: &impl ::core::marker::Sized));
        let types = trigger.brought.iter().map(|brought| {
            let unknown = std::ptr::eq(brought.ty, &raw const graph.declaration.unknown);
            if unknown { quote!(impl ::core::marker::Sized) } else { brought.ty.to_token_stream() }
        });
        let targets = transition.leads.targets();
        let next = match targets.first().map(|target| &target.state) {
            _ if trigger.choice.is_some() => names.after_type(trigger, &state),
            Some(target) if target == "Self" => quote!(Self),
            target => {
                let known = target.and_then(|target| graph.state(target));
                names.typed_in(&graph.states[known.unwrap_or(0)])
            }
        };
        let result = transitions::fallible(trigger.refusal, &next, &quote!(Self));
        quote! {
            pub fn #name(self, #(_: #types,)* #by) -> #result {
                loop {}
            }
        }
    });
    let ty = names.typed_with(&state);
    let (generics, predicates) = names.for_all_and_state(&quote!());
    quote!(impl #generics #ty #predicates { #(#methods)* })
}

/// The types of actors and tools are named, so that their imports are not reported as unused.
fn actors(graph: &Graph<'_>) -> TokenStream {
    let declaration = graph.declaration;
    let named = declaration.transitions().flat_map(|transition| &transition.by);
    let named = named.map(ToTokens::to_token_stream);
    let invoked =
        declaration.states.iter().filter_map(|state| state.invoke.as_ref()?.tool.as_ref());
    let named = named.chain(invoked.map(ToTokens::to_token_stream));
    let traits = graph.triggers.iter().map(names::may);
    // A state or a group of that name was reported, and is emitted.
    let is_free = |may: &Ident| declaration.states.iter().all(|state| !state.is_called(may));
    let traits = traits.filter(is_free);
    quote! {
        const _: () = {
            #(let _: ::core::option::Option<#named> = ::core::option::Option::None;)*
        };
        #(
            pub trait #traits<From> {}
            impl<From, Any> #traits<From> for Any {}
        )*
    }
}

/// One trait per group, known or not, and one for every state, which all types implement.
fn groups(graph: &Graph<'_>) -> TokenStream {
    let of_states = graph.declaration.states.iter().flat_map(|state| &state.groups);
    let of_options = graph.declaration.options.from_several.iter().flat_map(|(names, _)| names);
    let is_taken =
        |group: &Ident| graph.state(group).is_some() || is_reserved_state(graph.declaration, group);
    let mut groups = deduplicated(of_states.chain(of_options).filter(|group| !is_taken(group)));
    let any_state = quote::format_ident!("AnyState");
    // A machine called `State` was reported; its erased one has that name.
    groups.extend((graph.declaration.name != "State").then_some(&any_state));
    quote! {
        #(
            pub trait #groups {}
            impl<Any> #groups for Any {}
        )*
    }
}
