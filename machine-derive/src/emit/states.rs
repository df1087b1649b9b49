use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use crate::model::{Graph, State};

/// A struct per state, and what makes it a state of this machine.
pub(super) fn emit(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let Names { typed, any, .. } = names;
    let derives = &graph.declaration.derives;
    let states = graph.states.iter().enumerate().map(|(index, state)| {
        let name = state.name();
        let item = item(state);
        let terminal =
            state.written.terminal.then(|| quote!(impl ::machine::typed::Terminal for #name {}));
        quote! {
            #[derive(#(#derives),*)]
            #item

            impl ::machine::typed::State for #name {
                type Machine = #typed<Self>;
                type Any = #any;
                const INDEX: usize = #index;

                fn narrow(any: #any) -> ::core::result::Result<#typed<Self>, #any> {
                    match any {
                        #any::#name(machine) => ::core::result::Result::Ok(machine),
                        other => ::core::result::Result::Err(other),
                    }
                }
            }
            #terminal
        }
    });
    quote!(#(#states)*)
}

/// The struct itself.
pub(super) fn item(state: &State<'_>) -> TokenStream {
    let name = state.name();
    let written = state.written;
    let (docs, others) = (&written.docs, &written.others);
    let body = if written.fields.is_empty() {
        quote!(;)
    } else {
        let fields = written.fields.iter().map(|field| {
            let (attrs, name, ty) = (&field.attrs, &field.ident, &field.ty);
            quote!(#(#attrs)* pub #name: #ty)
        });
        quote!({ #(#fields),* })
    };
    quote! {
        #(#docs)*
        #(#others)*
        pub struct #name #body
    }
}
