use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use super::{
    names::{self, Names},
    serde, storable,
};
use crate::text::bare;

const SENSIBLE: [&str; 8] =
    ["Debug", "Clone", "PartialEq", "Eq", "Hash", "Serialize", "Deserialize", "JsonSchema"];

/// The triggers with their payloads, for events that arrive at run time.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // Those that make sense for events; `Default`, for example, does not.
    let sensible = |path: &&Path| {
        path.segments.last().is_some_and(|last| SENSIBLE.contains(&last.ident.to_string().as_str()))
    };
    let derived = names.graph.declaration.derives.iter().filter(sensible);
    let typed = &names.typed;
    let about = format!("The events of a [`{typed}`]: its triggers with their payloads.");
    let serde = names.graph.derives("Serialize") || names.graph.derives("Deserialize");
    let serde = (serde && !names.stub).then(|| {
        // The derive for a tagged enum buffers its input, and numbers do not survive that if any
        // crate of the program enables `arbitrary_precision` of `serde_json`. So the derive makes
        // functions of the type, and `serde_impls` calls them.
        let remote = names.durable.then(|| quote!(#[serde(remote = "Self")]));
        quote!(#[serde(tag = "trigger")] #remote)
    });
    let root = names.serde_root(&[]);
    let serde_impls = (names.durable && !names.stub).then(|| serde_impls(names));
    let variants = names.graph.triggers.iter().enumerate().map(|(index, trigger)| {
        let name = names::event(trigger);
        let moves: Vec<String> = names
            .graph
            .moves_of(index)
            .map(|step| {
                let targets = names.graph.targets_text(step);
                format!("{} to {targets}", names.source(step).label)
            })
            .collect();
        let about = format!("{}.", moves.join(", "));
        let body = (!trigger.brought.is_empty()).then(|| {
            let fields = trigger.brought.iter().map(|brought| {
                let (name, ty) = (brought.name, brought.ty);
                let about = format!("Payload of `{}`.", trigger.name);
                let was = brought.was.iter().filter(|_| serde.is_some());
                let bound = storable::attribute(names, ty, &[]);
                quote!(#[doc = #about] #bound #(#[serde(alias = #was)])* #name: #ty)
            });
            quote!({ #(#fields),* })
        });
        let text = bare(trigger.name);
        let was = names.graph.was_of(index);
        let rename = serde.is_some().then(|| quote!(#[serde(rename = #text #(, alias = #was)*)]));
        quote!(#[doc = #about] #rename #name #body)
    });
    let texts = names.graph.triggers.iter().map(|trigger| {
        let (event, text) = (names::event(trigger), bare(trigger.name));
        let items = (!trigger.brought.is_empty()).then(|| quote!({ .. }));
        quote!(Self::#event #items => #text)
    });
    let used = names.used_by_events();
    let generics = names.params.declare(&[], &used);
    let defined = names.params.define(&[], &used);
    let predicates = names.params.where_clause(&used);
    let event = names.event_type();
    let non_exhaustive = &names.graph.declaration.non_exhaustive;
    quote! {
        #[doc = #about]
        #[derive(#(#derived),*)]
        #root
        #serde
        #non_exhaustive
        pub enum Event #defined #predicates {
            #(#variants),*
        }

        #serde_impls

        impl #generics #event #predicates {
            /// The name of the trigger.
            #[must_use]
            pub fn trigger(&self) -> &'static str {
                match *self { #(#texts,)* }
            }
        }
    }
}

/// The implementations of serde's traits for the events of a durable machine.
fn serde_impls(names: &Names<'_>) -> TokenStream {
    let bounds = storable::of_events(names);
    let ty = quote!(Event);
    let serialize = names
        .graph
        .derives("Serialize")
        .then(|| serde::serialize(&ty, &bounds, &quote!(Self::serialize(self, serializer))));
    let deserialize = names.graph.derives("Deserialize").then(|| {
        let body = quote! {
            let value = __machine::__private::plain_value(deserializer)?;
            Self::deserialize(value).map_err(__machine::__private::serde::de::Error::custom)
        };
        serde::deserialize(None, &ty, &bounds, &body)
    });
    quote!(#serialize #deserialize)
}
