use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
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

    // A field of the initial state may be called `context` too.
    let has_context = Names::has_context(graph);
    let context_param = has_context.then(|| hygienic!(context: #context,));
    let (kept, made, context_path) = match (names.durable, has_context) {
        (false, false) => (quote!(), quote!(), quote!()),
        (false, true) => {
            (quote!(context: #context,), hygienic!(context: context,), quote!(&self.context))
        }
        (true, _) => {
            let context_value = if has_context { hygienic!(context) } else { quote!(()) };
            (
                quote!(core: ::std::boxed::Box<::machine::__private::Core<#context>>,),
                quote!(core: ::machine::__private::Core::__create(
                    DEFINITION,
                    #context_value,
                    ::machine::__private::rules::<#context>,
                ),),
                quote!(&self.core.context),
            )
        }
    };
    let context_getter = has_context.then(|| {
        quote! {
            /// What was fixed at creation.
            #[must_use]
            pub fn context(&self) -> &#context {
                #context_path
            }
        }
    });
    let journal_getters = names.durable.then(|| {
        quote! {
            /// The machine's identity.
            #[must_use]
            pub fn id(&self) -> ::machine::Id {
                self.core.journal.id()
            }

            /// What happened to it, oldest first.
            #[must_use]
            pub fn journal(&self) -> &::machine::__private::Journal {
                &self.core.journal
            }
        }
    });

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

    let table = transition_table(graph);
    quote! {
        #(#docs)*
        #[doc = #table]
        #[must_use = "a transition gives back the machine in its next state; without it the step is lost"]
        pub struct #typed<S> {
            #kept
            state: S,
        }

        impl #typed<#initial_name> {
            #[doc = #about_new]
            pub fn new(#context_param #(#field_names: #field_types),*) -> Self {
                Self { #made state: #state }
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

/// The transitions, for the machine's documentation.
fn transition_table(graph: &Graph<'_>) -> String {
    let rows = graph.moves.iter().map(|step| {
        let (from, to) = (&graph.states[step.from].label, &graph.states[step.to].label);
        let by: Vec<String> = step.by.iter().map(names::path_text).collect();
        let by = if by.is_empty() { "anyone".to_owned() } else { by.join(", ") };
        format!("| {from} | `{}` | {to} | {by} |\n", graph.triggers[step.trigger].name)
    });
    let rows: String = rows.collect();
    format!("\n# Transitions\n\n| from | trigger | to | by |\n|---|---|---|---|\n{rows}")
}

/// Whether the user derives `name`.
pub(super) fn derives(graph: &Graph<'_>, name: &str) -> bool {
    let mut derives = graph.declaration.derives.iter();
    derives.any(|path| path.segments.last().is_some_and(|last| last.ident == name))
}
