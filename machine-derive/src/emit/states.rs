use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::{
    erased, fields,
    names::{self, Names},
    storable,
};
use crate::model::State;

/// One struct per state, and the implementations that make it a state of this machine.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let derives = &names.graph.declaration.derives;
    let states = names.graph.states.iter().enumerate();
    let states = states.filter(|(_, state)| !names.stub || !names.graph.is_taken(state));
    let states = states.map(|(index, state)| {
        let item = item(names, state);
        let marks = marks(names, state, index);
        let serde = names.serde_root(&state.written.others);
        quote! {
            #[derive(#(#derives),*)]
            #serde
            #item
            #marks
        }
    });
    let any_state = any_state(names);
    quote!(#(#states)* #any_state)
}

/// The sealed trait of every state. Stubs have their own, which every type implements.
fn any_state(names: &Names<'_>) -> TokenStream {
    if names.stub {
        return TokenStream::new();
    }
    let Names { typed, any, state, .. } = names;
    let about = format!("The states of [`{typed}`].");
    let message = format!("`{{Self}}` is not a state of `{typed}`");
    let all: Vec<usize> = (0..names.graph.states.len()).collect();
    let fields = fields::of_all(names, &all);
    let bound = |this: TokenStream| {
        let converts = names
            .params
            .is_empty()
            .then(|| quote!(__machine::typed::State<Any = #any, Machine = #typed<#this>> +));
        quote!(#converts __sealed::State #(+ #fields)*)
    };
    let (of_trait, of_all) = (bound(quote!(Self)), bound(state.to_token_stream()));
    let sealed = names.graph.states.iter().map(|state| {
        let (generics, ty, predicates) = names.for_state(state);
        quote!(impl #generics __sealed::State for #ty #predicates {})
    });
    quote! {
        #[doc = #about]
        #[diagnostic::on_unimplemented(message = #message, label = "not a state")]
        pub trait AnyState: #of_trait {}

        #[diagnostic::do_not_recommend]
        impl<#state: #of_all> AnyState for #state {}

        #(#sealed)*
    }
}

/// The struct itself. It and its fields have the spans of their names, where rustc reports missing
/// docs.
pub(super) fn item(names: &Names<'_>, state: &State<'_>) -> TokenStream {
    let reads = names.graph.derives("Deserialize");
    let name = state.name();
    let written = state.written;
    let (docs, others) = (&written.docs, &written.others);
    let used = names.used_by(state);
    let generics = names.params.define(&[], &used);
    let predicates = names.params.where_clause(&used);
    let body = if written.fields.is_empty() {
        quote_spanned!(name.span()=> ;)
    } else {
        let fields = written.fields.iter().map(|field| {
            let (attrs, name, ty) = (&field.attrs, &field.name, &field.ty);
            // Data written under an old name are read under the new one.
            let was = field.was.iter().filter(|_| reads);
            let bound = storable::attribute(names, ty, others.iter().chain(attrs));
            let public = quote_spanned!(name.span()=> pub);
            quote!(#(#attrs)* #bound #(#[serde(alias = #was)])* #public #name: #ty)
        });
        let fields = quote_spanned!(name.span()=> { #(#fields),* });
        quote!(#predicates #fields)
    };
    let declared = quote_spanned!(name.span()=> pub struct #name);
    quote! {
        #(#docs)*
        #(#others)*
        #declared #generics #body
    }
}

/// The traits for code that is generic over the state. A generic machine has none: its states do
/// not use all of its parameters.
fn marks(names: &Names<'_>, state: &State<'_>, index: usize) -> TokenStream {
    if !names.params.is_empty() {
        return TokenStream::new();
    }
    let (name, any) = (state.name(), &names.any);
    let (typed, index) = (names.typed_in(state), names::index(index));
    let narrow = erased::narrow(names, state);
    let terminal =
        state.written.terminal.then(|| quote!(impl __machine::typed::Terminal for #name {}));
    quote! {
        impl __machine::typed::State for #name {
            type Machine = #typed;
            type Any = #any;
            const INDEX: usize = #index;

            fn narrow(any: #any) -> __machine::typed::Narrowed<Self> {
                #narrow
            }

            fn widen(machine: #typed) -> #any {
                #any::#name(machine)
            }
        }
        #terminal
    }
}
