use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use crate::model::Graph;

/// The typed machine: its struct, its constructor, and what can be read in every state.
pub(super) fn emit(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let Names { typed, context, .. } = names;
    let docs = &graph.declaration.docs;
    let initial = &graph.states[graph.initial];
    let initial_name = initial.name();
    let fields = initial.written.fields.iter().filter_map(|field| {
        let name = field.ident.as_ref()?;
        let ty = &field.ty;
        Some((name, ty))
    });
    let (field_names, field_types): (Vec<_>, Vec<_>) = fields.unzip();
    let state = if field_names.is_empty() {
        quote!(#initial_name)
    } else {
        quote!(#initial_name { #(#field_names),* })
    };

    let has_context = Names::has_context(graph);
    let context_field = has_context.then(|| quote!(context: #context,));
    let context_value = has_context.then(|| quote!(context,));
    let context_getter = has_context.then(|| {
        quote! {
            /// What was fixed at creation.
            #[must_use]
            pub fn context(&self) -> &#context {
                &self.context
            }
        }
    });

    let (journal_field, journal_value, journal_getters) = if names.durable {
        let author = if has_context {
            quote!(::machine::__private::Context::author(&context))
        } else {
            quote!(::core::option::Option::None)
        };
        (
            quote!(journal: ::machine::__private::Journal,),
            quote!(journal: ::machine::__private::Journal::__create(DEFINITION, #author),),
            quote! {
                /// The machine's identity.
                #[must_use]
                pub fn id(&self) -> ::machine::Id {
                    self.journal.id()
                }

                /// What happened to it, oldest first.
                #[must_use]
                pub fn journal(&self) -> &::machine::__private::Journal {
                    &self.journal
                }
            },
        )
    } else {
        (quote!(), quote!(), quote!())
    };

    let about_new = format!("A new machine, in {}.", initial.label);
    let debug = derives(graph, "Debug").then(|| {
        let name = typed.to_string();
        quote! {
            impl<S: ::core::fmt::Debug> ::core::fmt::Debug for #typed<S> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#name).field("state", &self.state).finish_non_exhaustive()
                }
            }
        }
    });

    // The journal is made first: its author is read off the context before that moves.
    quote! {
        #(#docs)*
        #[must_use = "a machine that is dropped was never moved"]
        pub struct #typed<S> {
            #journal_field
            #context_field
            state: S,
        }

        impl #typed<#initial_name> {
            #[doc = #about_new]
            pub fn new(#context_field #(#field_names: #field_types),*) -> Self {
                Self { #journal_value #context_value state: #state }
            }
        }

        impl<S> #typed<S> {
            /// The data of the state.
            #[must_use]
            pub fn state(&self) -> &S {
                &self.state
            }

            #context_getter
            #journal_getters
        }

        #debug
    }
}

/// Whether the user derives `name`.
pub(super) fn derives(graph: &Graph<'_>, name: &str) -> bool {
    let mut derives = graph.declaration.derives.iter();
    derives.any(|path| path.segments.last().is_some_and(|last| last.ident == name))
}
