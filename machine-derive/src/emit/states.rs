use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    erased,
    names::{self, Names},
};
use crate::model::{Graph, State, bare};

/// A struct per state, and what makes it a state of this machine.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let derives = &graph.declaration.derives;
    let states = graph.states.iter().enumerate().map(|(index, state)| {
        let item = item(names, state);
        let marks = marks(names, state, index);
        quote! {
            #[derive(#(#derives),*)]
            #item
            #marks
        }
    });
    let groups = groups(graph, names);
    quote!(#(#states)* #groups)
}

/// The struct itself.
pub(super) fn item(names: &Names<'_>, state: &State<'_>) -> TokenStream {
    let name = state.name();
    let written = state.written;
    let (docs, others) = (&written.docs, &written.others);
    let used = names.used_by(state);
    let generics = names.params.declare(&[], &used);
    let predicates = names.params.where_clause(&used);
    let body = if written.fields.is_empty() {
        quote!(;)
    } else {
        let fields = written.fields.iter().map(|field| {
            let (attrs, name, ty) = (&field.attrs, &field.ident, &field.ty);
            quote!(#(#attrs)* pub #name: #ty)
        });
        quote!(#predicates { #(#fields),* })
    };
    quote! {
        #(#docs)*
        #(#others)*
        pub struct #name #generics #body
    }
}

/// What lets code be generic over the state. A machine with parameters of its own has none: its
/// states do not know all of them.
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

/// A sealed trait per group, for code that takes a machine in any of its states.
fn groups(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let groups = graph.groups();
    if groups.is_empty() {
        return TokenStream::new();
    }
    let join = |state: &State<'_>, group: &TokenStream| {
        let used = names.used_by(state);
        let generics = names.params.declare(&[], &used);
        let predicates = names.params.where_clause(&used);
        let ty = names.state_type(state);
        quote!(impl #generics #group for #ty #predicates {})
    };
    let mut seals = TokenStream::new();
    let mut traits = TokenStream::new();
    for (name, members) in &groups {
        let sealed = format_ident!("In{}", bare(name));
        let members: Vec<&State<'_>> = members.iter().map(|state| &graph.states[*state]).collect();
        let labels: Vec<&str> = members.iter().map(|state| state.label.as_str()).collect();
        let labels = labels.join(", ");
        let about = format!("The states of the group: {labels}.");
        let message = format!("`{{Self}}` is no state of the group `{}`", bare(name));
        let note = format!("the states of the group: {labels}");
        let refusal = quote! {
            #[diagnostic::on_unimplemented(
                message = #message,
                label = "not in the group",
                note = #note
            )]
        };
        seals.extend(quote!(#refusal pub trait #sealed {}));
        traits.extend(quote!(#[doc = #about] #refusal pub trait #name: groups::#sealed {}));
        for state in members {
            traits.extend(join(state, &quote!(groups::#sealed)));
            traits.extend(join(state, &quote!(#name)));
        }
    }
    quote! {
        // Only the declaration puts a state into a group: nobody else can name these.
        mod groups {
            #seals
        }
        #traits
    }
}
