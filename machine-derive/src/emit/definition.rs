use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::names::index;
use crate::model::{Brought, Graph, bare};

pub(super) fn emit(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    let docs = prose(&graph.declaration.docs);
    let initial = index(graph.initial);

    let states = graph.states.iter().map(|state| {
        let (name, label) = (&state.stored, &state.label);
        let docs = prose(&state.written.docs);
        let docs = (!docs.is_empty()).then(|| quote!(.docs(#docs)));
        let stable = state.written.stable.then(|| quote!(.stable()));
        let terminal = state.written.terminal.then(|| quote!(.terminal()));
        let fields = state.written.fields.iter().filter_map(|field| {
            let name = bare(field.ident.as_ref()?);
            let ty = type_text(&field.ty);
            Some(quote!(__Field::new(#name, #ty)))
        });
        let fields = (!state.written.fields.is_empty()).then(|| quote!(.fields(&[#(#fields),*])));
        quote!(__State::new(#name, #label) #docs #stable #terminal #fields)
    });

    let edges = graph.moves.iter().map(|step| {
        let trigger = &graph.triggers[step.trigger];
        let (name, from, to, by) = (bare(trigger.name), index(step.from), index(step.to), step.by);
        let payload = trigger.brought.iter().map(|Brought { name, ty }| {
            let (name, ty) = (bare(name), type_text(ty));
            quote!(__Field::new(#name, #ty))
        });
        let payload = (!trigger.brought.is_empty()).then(|| quote!(.payload(&[#(#payload),*])));
        let actors = (!by.is_empty()).then(|| quote!(.actors(&[#(<#by as __Actor>::KIND),*])));
        let guard = step.guard.map(|guard| {
            let path = super::names::path_text(&guard.path);
            quote!(.guard(#path))
        });
        quote!(__Edge::new(#from, #name, #to) #payload #actors #guard)
    });

    let actors = graph.actors();
    // In a scope of its own, so that the short names stay in it.
    quote! {
        /// The machine as plain data.
        pub const DEFINITION: &__machine::definition::Definition = {
            use __machine::actor::Actor as __Actor;
            use __machine::definition::{
                Definition as __Definition, Edge as __Edge, Field as __Field, StateDef as __State,
            };
            &__Definition::new(
                #name,
                #docs,
                &[#(#states),*],
                &[#(#edges),*],
                #initial,
                &[#((<#actors as __Actor>::KIND, <#actors as __Actor>::CATEGORY)),*],
            )
        };
    }
}

/// The doc comment as text.
pub(super) fn prose(docs: &[Attribute]) -> String {
    let lines: Vec<String> = docs
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned())
        .collect();
    lines.join("\n")
}

/// The type as people write it: `Vec<String>`, not `Vec < String >`.
fn type_text(ty: &impl ToTokens) -> String {
    let text = crate::expand::as_written(ty.to_token_stream()).to_string();
    let mut text = text.replace(" :: ", "::").replace(":: ", "::");
    for (loose, tight) in [(" < ", "<"), (" >", ">"), ("< ", "<"), (" ,", ","), ("& ", "&")] {
        text = text.replace(loose, tight);
    }
    text
}
