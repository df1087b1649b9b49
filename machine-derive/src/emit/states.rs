use proc_macro2::TokenStream;
use quote::quote;

use super::{
    erased,
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
        quote! {
            #[derive(#(#derives),*)]
            #item
            #marks
        }
    });
    quote!(#(#states)*)
}

/// The struct itself.
pub(super) fn item(names: &Names<'_>, state: &State<'_>) -> TokenStream {
    let reads = names.graph.derives("Deserialize");
    let name = state.name();
    let written = state.written;
    let (docs, others) = (&written.docs, &written.others);
    let used = names.used_by(state);
    let generics = names.params.define(&[], &used);
    let predicates = names.params.where_clause(&used);
    let body = if written.fields.is_empty() {
        quote!(;)
    } else {
        let fields = written.fields.iter().map(|field| {
            let (attrs, name, ty) = (&field.attrs, &field.name, &field.ty);
            // Data written under an old name are read under the new one.
            let was = field.was.iter().filter(|_| reads);
            let bound = storable::attribute(names, ty, others.iter().chain(attrs));
            quote!(#(#attrs)* #bound #(#[serde(alias = #was)])* pub #name: #ty)
        });
        quote!(#predicates { #(#fields),* })
    };
    quote! {
        #(#docs)*
        #(#others)*
        pub struct #name #generics #body
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

            fn narrow(any: #any) -> ::core::result::Result<#typed, #any> {
                #narrow
            }

            fn widen(machine: #typed) -> #any {
                #any::#name(machine)
            }
        }
        #terminal
    }
}
