use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;

use super::names::{self, Names};
use crate::model::{Graph, Move, Source, bare};

/// A method per legal move, on the state that it leaves, and nowhere else.
///
/// The work stands in a function beside it, which the erased machine calls as well: one code, so
/// that the two forms cannot come to differ. Its own variables have the span of the macro, so that
/// a payload may be called `payload`, or `machine`, or `by`.
pub(super) fn emit(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let moves = graph.moves.iter().enumerate().map(|(edge, step)| {
        let method = method(graph, names, step);
        let function = function(graph, names, edge, step);
        hygienic!(#method #function)
    });
    hygienic!(#(#moves)*)
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
        hygienic!(#name: #ty)
    });
    let about = format!("{} to {}.", from.label, to.label);

    let may = names::may(trigger);
    let restricted = !step.by.is_empty();
    // No type parameter: it would hide a state or a type of the user's that has its name.
    let by = restricted.then(|| hygienic!(by: &impl #may<#from_name>));
    let actor = match (names.durable, restricted) {
        (false, _) => hygienic!(),
        (true, false) => hygienic!(::core::option::Option::None),
        (true, true) => {
            hygienic!(::core::option::Option::Some(::machine::__private::kind(by)))
        }
    };
    hygienic! {
        impl #typed<#from_name> {
            #[doc = #about]
            pub fn #name(self, #(#params,)* #by) -> #typed<#to_name> {
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
    // A field of the source that has the same name would hide what is brought.
    let hidden =
        |name: &Ident| from.written.fields.iter().any(|field| field.ident.as_ref() == Some(name));
    let local = |name: &Ident| if hidden(name) { brought_name(name) } else { name.clone() };
    let params = trigger.brought.iter().map(|brought| {
        let (name, ty) = (local(brought.name), brought.ty);
        hygienic!(#name: #ty)
    });

    let journal = names.durable.then(|| {
        let items = trigger.brought.iter().map(|brought| {
            let (name, text) = (local(brought.name), bare(brought.name));
            hygienic!(.__with(#text, &#name))
        });
        hygienic! {
            let mut core = machine.core;
            let payload =
                <::machine::__private::Payload as ::core::default::Default>::default() #(#items)*;
            core.journal.__moved(DEFINITION, #edge, actor, payload);
        }
    });
    let actor = names.durable.then(|| hygienic!(actor: ::core::option::Option<&'static str>));
    let kept = match (names.durable, Names::has_context(graph)) {
        (true, _) => hygienic!(core,),
        (false, true) => hygienic!(context: machine.context,),
        (false, false) => hygienic!(),
    };

    // Fields of the source are bound only where something uses them.
    let uses_source = step.fields.iter().any(|(_, source)| !matches!(source, Source::Brought));
    let open = uses_source.then(|| {
        let fields = from.written.fields.iter().map(|field| &field.ident);
        if from.written.fields.is_empty() {
            hygienic!()
        } else {
            hygienic!(let #from_name { #(#fields),* } = machine.state;)
        }
    });
    // Computed fields come first: they may look at fields that are then carried away.
    let computed = step.fields.iter().filter_map(|(field, source)| match source {
        Source::Computed(expr) => {
            let (name, ty) = (&field.ident, &field.ty);
            let fresh = computed_name(name.as_ref()?);
            Some(hygienic!(let #fresh: #ty = #expr;))
        }
        Source::Brought | Source::Carried => None,
    });
    let fields = step.fields.iter().filter_map(|(field, source)| {
        let name = field.ident.as_ref()?;
        Some(match source {
            Source::Computed(_) => {
                let fresh = computed_name(name);
                hygienic!(#name: #fresh)
            }
            Source::Brought => {
                let brought = local(name);
                hygienic!(#name: #brought)
            }
            Source::Carried => hygienic!(#name),
        })
    });
    let state = if step.fields.is_empty() {
        hygienic!(#to_name)
    } else {
        hygienic!(#to_name { #(#fields),* })
    };
    hygienic! {
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

fn brought_name(item: &Ident) -> Ident {
    format_ident!("brought_{}", bare(item), span = Span::mixed_site().located_at(item.span()))
}

fn computed_name(field: &Ident) -> Ident {
    format_ident!("computed_{}", bare(field), span = Span::mixed_site())
}
